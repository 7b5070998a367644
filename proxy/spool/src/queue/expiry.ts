import type { Eviction } from "./eviction.ts";
import type { GroupCommit } from "./group-commit.ts";

const rarest = 10_000;
const most = 500;

/**
 * Returns a clock for ages, which goes at most twice as fast as time passes: a wall clock that is set forward by days must
 * not make everything old at once, and what it lost while the machine slept is made up for.
 */
export function clockForAges(wall = Date.now, passed = () => performance.now()): () => number {
  let age = wall();
  let at = passed();
  return () => {
    const now = passed();
    age = Math.min(wall(), age + 2 * (now - at));
    at = now;
    return age;
  };
}

/**
 * From now on, drops what is older than `maxAge` ms, a few at a time, and gives the disk back what an outage took. Looks
 * every ten seconds, and twice within a shorter `maxAge`.
 */
export function keepSwept(eviction: Eviction, commits: GroupCommit, maxAge: number, now = clockForAges()): void {
  const every = Math.min(rarest, maxAge / 2);
  const sweep = async (): Promise<number> => {
    const old = now() - maxAge;
    const gone = commits.read(() => eviction.oldest() < old)
      ? await commits.write(() => eviction.expire(old, most))
      : 0;
    if (gone === 0) commits.read(() => eviction.shrink());
    return gone;
  };
  const again = async (): Promise<void> => {
    // What the disk says against it has been spoken of where it was written to.
    const gone = await sweep().catch(() => 0);
    setTimeout(again, gone === most ? 0 : every).unref();
  };
  void again();
}
