import { type Check, UNKNOWN } from "./check";

const FRESH_MS = 2_000;
const WAIT_MS = 300;
const MAX_AGE_MS = 10_000;

/**
 * Takes a check and returns one that is cheap enough for every page view: it runs at most once in two seconds, and a page waits
 * at most 0.3 s for it. If it takes longer, callers get the last result, unless that is old.
 */
export function cachedCheck<C extends Check>(check: () => Promise<C>): () => Promise<C | Check> {
  let last: C | undefined;
  let running: Promise<void> | undefined;
  let due = 0;
  return async () => {
    if (!running && Date.now() >= due) {
      if (Date.now() > due + MAX_AGE_MS) last = undefined;
      due = Date.now() + FRESH_MS;
      running = check().then((found) => {
        last = found;
        running = undefined;
      });
    }
    if (running) await Promise.race([running, after(WAIT_MS)]);
    return last ?? UNKNOWN;
  };
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
