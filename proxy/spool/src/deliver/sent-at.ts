/**
 * Takes an envelope's header line and returns it as if sent now, every other byte as it was: an ingest moves all timestamps
 * by the time between `sent_at` and arrival, which must not be the time spent in the spool.
 * https://develop.sentry.dev/sdk/foundations/transport/envelopes/
 */
export function sentNow(header: string, now = new Date()): string {
  const place = placeOf(header, "sent_at");
  const stamp = `"${now.toISOString()}"`;
  if (place) return header.slice(0, place.from) + stamp + header.slice(place.to);
  return header.replace("{", `{"sent_at":${stamp}${/^\s*\{\s*\}/.test(header) ? "" : ","}`);
}

/** Where the value of a key of the outermost object stands in the text. JSON.parse would lose how everything was written. */
function placeOf(json: string, key: string): { from: number; to: number } | undefined {
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
  let depth = 0;
  let name = "";
  let before = "";
  for (let match = token.exec(json); match; match = token.exec(json)) {
    const text = match[0];
    if (depth === 1 && before === ":" && name === `"${key}"` && !"{[".includes(text)) {
      return { from: match.index, to: token.lastIndex };
    }
    if (text === "{" || text === "[") depth++;
    else if (text === "}" || text === "]") depth--;
    else if (depth === 1 && (before === "{" || before === ",")) name = text;
    before = text;
  }
  return undefined;
}
