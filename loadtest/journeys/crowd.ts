import { judgePage } from "../lib/judge.ts";
import { pick } from "../lib/random.ts";
import type { Visitor } from "../lib/visitor.ts";
import { judgeFresh } from "./fresh.ts";

const SIZE = 10;

/**
 * Newcomers who arrive at the same moment, all judged by one memory: where a server mixes up requests that it handles at
 * once, two of these get the same trace.
 */
export async function crowd(visitor: Visitor): Promise<void> {
  const path = pick(visitor.knobs.pages);
  const asks = Array.from({ length: SIZE }, () => visitor.ask({ path, name: `${path} (crowd)`, untimed: true }));
  for (const answer of await Promise.all(asks)) {
    if (judgePage(visitor, answer, path)) judgeFresh(visitor, answer, path);
  }
}
