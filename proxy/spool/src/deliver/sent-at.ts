/**
 * Takes an envelope's header line and returns it with `sent_at` set to now, every other byte unchanged: an ingest shifts all
 * timestamps by the time between `sent_at` and arrival, which must not include the time spent in the spool.
 * https://develop.sentry.dev/sdk/foundations/transport/envelopes/
 */
export function withSentAt(header: string, now = new Date()): string {
  const value = findValue(header, "sent_at");
  const timestamp = `"${now.toISOString()}"`;
  if (value) return header.slice(0, value.from) + timestamp + header.slice(value.to);
  return header.replace("{", `{"sent_at":${timestamp}${/^\s*\{\s*\}/.test(header) ? "" : ","}`);
}

/** Where the value of a key of the outermost object is in the text. JSON.parse would lose white space and number formats. */
function findValue(json: string, key: string): { from: number; to: number } | undefined {
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
  let depth = 0;
  let name = "";
  let previous = "";
  for (let match = token.exec(json); match; match = token.exec(json)) {
    const text = match[0];
    if (depth === 1 && previous === ":" && name === `"${key}"` && !"{[".includes(text)) {
      return { from: match.index, to: token.lastIndex };
    }
    if (text === "{" || text === "[") depth++;
    else if (text === "}" || text === "]") depth--;
    else if (depth === 1 && (previous === "{" || previous === ",")) name = text;
    previous = text;
  }
  return undefined;
}
