/**
 * The problem with a React Server Components payload; empty if it is whole. Its rows are `id:json`, `id:<letter>json` or, without a new line,
 * `id:T<bytes>,text`. Row 0 is the page.
 */
export function payloadProblem(body: string): string {
  let hasRoot = false;
  // With partial prefetching, Next 16.4 marks a payload in its first character.
  let at = /^[#~]/.test(body) ? 1 : 0;
  while (at < body.length) {
    const [head = "", id = "", tag = ""] = /^([0-9a-f]*):([A-Z]?)/.exec(body.slice(at, at + 16)) ?? [];
    if (head === "") return `no row at character ${at} of ${body.length}: "${body.slice(at, at + 40)}"`;
    const end = body.indexOf(tag === "T" ? "," : "\n", at);
    const bytes = tag === "T" ? Number.parseInt(body.slice(at + head.length, end), 16) : 0;
    const next = afterBytes(body, end + 1, bytes);
    if (end < 0 || Number.isNaN(next)) return `row ${id} is cut after ${body.length} characters`;
    if (id === "0") {
      hasRoot = /^["[{].*[\w"].*["\]}]$/.test(body.slice(at + head.length, end));
      if (!hasRoot) return `row 0 is not a page: "${body.slice(at, at + 60)}"`;
    }
    at = next;
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
