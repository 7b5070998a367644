import { type Check, UNKNOWN } from "./check";

const FRESH_MS = 2_000;
const WAIT_MS = 300;

/**
 * Takes a check and returns one that is cheap enough for every page view: it runs at most once in two seconds, and a page waits
 * at most 0.3 s for it by default. While it runs, callers get the last result, so a hop that hangs does not slow pages down.
 */
export function cachedCheck<C extends Check>(check: () => Promise<C>): (waitMs?: number) => Promise<C | Check> {
  let last: C | undefined;
  let running: Promise<C> | undefined;
  let due = 0;
  return async (waitMs = WAIT_MS) => {
    if (!running && Date.now() >= due) {
      due = Date.now() + FRESH_MS;
      running = check().then((found) => {
        last = found;
        running = undefined;
        return found;
      });
    }
    return running && !last ? Promise.race([running, after(waitMs)]) : (last ?? UNKNOWN);
  };
}

function after(ms: number): Promise<Check> {
  return new Promise((resolve) => setTimeout(resolve, ms, UNKNOWN));
}
