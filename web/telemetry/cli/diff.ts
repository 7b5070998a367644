import type { Change } from "./change.js";

/** Unchanged lines that are shown around a changed one. */
const CONTEXT = 2;
/** Longer new files are shown by their first line. */
const MAX_NEW_LINES = 20;

/** Returns a change as a unified diff without line numbers. */
export function diff({ file, before, after }: Change): string {
  if (before === undefined) {
    const added = split(after).map((line) => `+${line}`);
    const shown = added.length > MAX_NEW_LINES ? [added[0], `… ${added.length} lines`] : added;
    return [`new file: ${file}`, ...shown].join("\n");
  }
  const lines = compare(split(before), split(after));
  const isNear = (at: number) =>
    lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(([mark]) => mark !== " ");
  const shown = lines.flatMap(([mark, text], at) => {
    if (isNear(at)) return [`${mark}${text}`];
    return at === 0 || isNear(at - 1) ? ["…"] : [];
  });
  return [`edit: ${file}`, ...shown].join("\n");
}

const split = (text: string) => text.replace(/\n$/, "").split("\n");

/** Marks each line as kept, removed or added, by the longest common subsequence. */
function compare(from: string[], to: string[]): [" " | "-" | "+", string][] {
  const lengths = [...from, ""].map(() => new Array<number>(to.length + 1).fill(0));
  const length = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = from.length - 1; i >= 0; i--)
    for (let j = to.length - 1; j >= 0; j--)
      (lengths[i] as number[])[j] =
        from[i] === to[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
  const lines: [" " | "-" | "+", string][] = [];
  for (let i = 0, j = 0; i < from.length || j < to.length; ) {
    const isKept = i < from.length && from[i] === to[j];
    const isRemoved = i < from.length && (j === to.length || length(i + 1, j) >= length(i, j + 1));
    lines.push(isKept ? [" ", from[i] ?? ""] : isRemoved ? ["-", from[i] ?? ""] : ["+", to[j] ?? ""]);
    if (isKept || isRemoved) i++;
    if (isKept || !isRemoved) j++;
  }
  return lines;
}
