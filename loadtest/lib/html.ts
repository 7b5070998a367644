const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** Decodes the entities that HTML serialisers write; leaves unknown ones unchanged. */
export function unescapeHtml(text: string): string {
  return text.replace(/&(?:#(\d+)|#[xX]([0-9a-fA-F]+)|(\w+));/g, (whole, dec, hex, name) => {
    if (name) return ENTITIES[name] ?? whole;
    return String.fromCodePoint(Number.parseInt(dec ?? hex, dec ? 10 : 16));
  });
}

/** The attributes of one tag, decoded; an attribute without a value is empty. */
export function attributes(tag: string): Record<string, string> {
  const found: Record<string, string> = {};
  const inside = tag.replace(/^<[^\s>]+/, "");
  for (const [, name = "", double, single, bare] of inside.matchAll(
    /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g,
  )) {
    found[name.toLowerCase()] = unescapeHtml(double ?? single ?? bare ?? "");
  }
  return found;
}

/** The attributes of every opening tag with that name, in order. */
export function tags(html: string, name: string): Record<string, string>[] {
  return Array.from(html.matchAll(new RegExp(`<${name}\\b[^>]*>`, "gi")), ([tag]) => attributes(tag));
}

/** The contents of every `<meta name=…>` with that name: a faulty page may have none or two. */
export function metas(html: string, name: string): string[] {
  return tags(html, "meta")
    .filter((meta) => meta.name?.toLowerCase() === name)
    .map((meta) => meta.content ?? "");
}

/** The build's files that a page references, as a browser fetches them: same-origin, each once. */
export function assets(html: string): string[] {
  const links = [...tags(html, "script").map(({ src }) => src), ...tags(html, "link").map(({ href }) => href)];
  return [
    ...new Set(
      links.filter((link): link is string => /^\/[^/].*\/?_next\/static\/|^\/_next\/static\//.test(link ?? "")),
    ),
  ];
}
