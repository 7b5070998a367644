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

/**
 * From now on, drops envelopes older than `maxAgeMs` in small batches, and shrinks the database file after an outage. Runs every
 * ten seconds, or twice within a shorter `maxAgeMs`.
 */
export function startExpiry(eviction: Eviction, transactions: GroupCommit, maxAgeMs: number, now = ageClock()): void {
  const intervalMs = Math.min(maxIntervalMs, maxAgeMs / 2);
  const expireBatch = async (): Promise<number> => {
    const before = now() - maxAgeMs;
    const dropped = await transactions.write(() => eviction.expire(before, batchSize));
    if (dropped === 0) transactions.read(() => eviction.shrink());
    return dropped;
  };
  const run = async (): Promise<void> => {
    // GroupCommit has reported a failure already.
    const dropped = await expireBatch().catch(() => 0);
    setTimeout(run, dropped === batchSize ? 0 : intervalMs).unref();
  };
  void run();
}
