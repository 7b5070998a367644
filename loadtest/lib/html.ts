const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** Undoes the escapes that HTML serialisers write; an unknown name stays as it is. */
export function unescapeHtml(text: string): string {
  return text.replace(/&(?:#(\d+)|#[xX]([0-9a-fA-F]+)|(\w+));/g, (whole, dec, hex, name) => {
    if (name) return ENTITIES[name] ?? whole;
    return String.fromCodePoint(Number.parseInt(dec ?? hex, dec ? 10 : 16));
  });
}

/** The attributes of one tag, unescaped; a bare attribute has an empty value. */
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

/** Every opening tag of that name, as attributes, in order. */
export function tags(html: string, name: string): Record<string, string>[] {
  return Array.from(html.matchAll(new RegExp(`<${name}\\b[^>]*>`, "gi")), ([tag]) => attributes(tag));
}

/** The contents of every `<meta name=…>` of that name: a page must have one, and a fault may give it two. */
export function metas(html: string, name: string): string[] {
  return tags(html, "meta")
    .filter((meta) => meta.name === name)
    .map((meta) => meta.content ?? "");
}

/** The build's own files that a page asks for, as a browser would fetch them: same-origin, each once. */
export function assets(html: string): string[] {
  const links = [...tags(html, "script").map(({ src }) => src), ...tags(html, "link").map(({ href }) => href)];
  return [
    ...new Set(
      links.filter((link): link is string => /^\/[^/].*\/?_next\/static\/|^\/_next\/static\//.test(link ?? "")),
    ),
  ];
}
