import { type Check, UNKNOWN } from "./check";

const FRESH_MS = 2_000;
const PATIENCE_MS = 300;

/**
 * Takes a check and returns one that can be asked on every page view: it runs at most once in two seconds, and no page waits
 * for it longer than 0.3 s, if it does not ask to. Until it has answered, the last answer stands; a hop that hangs makes pages no slower.
 */
export function remembered(check: () => Promise<Check>, freshMs = FRESH_MS): (patienceMs?: number) => Promise<Check> {
  let last: Check | undefined;
  let running: Promise<Check> | undefined;
  let due = 0;
  return async (patienceMs = PATIENCE_MS) => {
    if (!running && Date.now() >= due) {
      due = Date.now() + freshMs;
      running = check().then((found) => {
        last = found;
        running = undefined;
        return found;
      });
    }
    return running && !last ? Promise.race([running, after(patienceMs)]) : (last ?? UNKNOWN);
  };
}

function after(ms: number): Promise<Check> {
  return new Promise((resolve) => setTimeout(resolve, ms, UNKNOWN));
}
