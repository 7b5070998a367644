/**
 * The problem with a React Server Components payload, in one line; empty if it is whole. A payload is rows `id:json`, `id:T<bytes>,text` or
 * `id:<letter>json`, each but the text ended by a new line; row 0 is the page.
 */
export function payloadProblem(body: string): string {
  let hasRoot = false;
  // With partial prefetching, Next 16.4 marks a payload in its first character.
  let at = /^[#~]/.test(body) ? 1 : 0;
  while (at < body.length) {
    const [head = "", id = "", tag = ""] = /^([0-9a-f]*):([A-Z]?)/.exec(body.slice(at, at + 16)) ?? [];
    if (head === "") return `no row at character ${at} of ${body.length}: "${body.slice(at, at + 40)}"`;
    if (tag === "T") {
      const comma = body.indexOf(",", at);
      at = afterBytes(body, comma + 1, Number.parseInt(body.slice(at + head.length, comma), 16));
      if (comma < 0 || Number.isNaN(at)) return `row ${id} is cut after ${body.length} characters`;
      continue;
    }
    const end = body.indexOf("\n", at);
    if (end < 0) return `row ${id} is cut after ${body.length} characters`;
    if (id === "0") {
      hasRoot = /^["[{].*[\w"].*["\]}]$/.test(body.slice(at + head.length, end));
      if (!hasRoot) return `row 0 is not a page: "${body.slice(at, at + 60)}"`;
    }
    at = end + 1;
  }
  return hasRoot ? "" : `row 0 is missing in ${body.length} characters`;
}

function afterBytes(text: string, from: number, bytes: number): number {
  let at = from;
  for (let left = bytes; left > 0; at++) {
    const code = text.codePointAt(at);
    if (code === undefined) return Number.NaN;
    left -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (code >= 0x10000) at++;
  }
  return at;
}
