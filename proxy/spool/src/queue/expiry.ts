import type { Eviction } from "./eviction.ts";
import type { GroupCommit } from "./group-commit.ts";

const maxIntervalMs = 10_000;
const batchSize = 500;

/**
 * Returns a clock for ages that runs at most twice as fast as real time: a wall clock that is set forward by days must not
 * expire everything at once, and the time that a machine slept is caught up with.
 */
export function ageClock(wallMs = Date.now, monotonicMs = () => performance.now()): () => number {
  let age = wallMs();
  let last = monotonicMs();
  return () => {
    const now = monotonicMs();
    age = Math.min(wallMs(), age + 2 * (now - last));
    last = now;
    return age;
  };
}

/** From now on, drops envelopes older than `maxAgeMs` in small batches, every ten seconds or twice within a shorter `maxAgeMs`. */
export function startExpiry(eviction: Eviction, transactions: GroupCommit, maxAgeMs: number): void {
  const now = ageClock();
  const intervalMs = Math.min(maxIntervalMs, maxAgeMs / 2);
  const run = async (): Promise<void> => {
    const before = now() - maxAgeMs;
    // GroupCommit has reported a failure already.
    const dropped = await transactions.write(() => eviction.expire(before, batchSize)).catch(() => 0);
    setTimeout(run, dropped === batchSize ? 0 : intervalMs).unref();
  };
  void run();
}
