const longestSkew = 24 * 3_600_000;

/**
 * Takes an envelope's header line and returns it as a sender would write it now, every other byte as it was: the ingest
 * moves all timestamps by the time between `sent_at` and arrival, which must not be the time spent in the spool.
 * A sender's clock that is off stays off by as much, so that the ingest still corrects it; beyond a day the value is old
 * rather than skewed, and the spool's own clock counts. https://develop.sentry.dev/sdk/foundations/transport/envelopes/
 */
export function sentNow(header: string, received: number, now = Date.now()): string {
  const value = placeOf(header, "sent_at");
  if (!value) return header.replace("{", `{"sent_at":"${new Date(now).toISOString()}"${isEmpty(header) ? "" : ","}`);
  const skew = Date.parse(header.slice(value.from + 1, value.to - 1)) - received;
  const fresh = new Date(now + (Math.abs(skew) <= longestSkew ? skew : 0)).toISOString();
  return `${header.slice(0, value.from)}"${fresh}"${header.slice(value.to)}`;
}

const isEmpty = (header: string) => /^\s*\{\s*\}/.test(header);

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
