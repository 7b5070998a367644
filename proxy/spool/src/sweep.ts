import type { Bounds } from "./bounds.ts";
import type { Journal } from "./journal.ts";

const rarest = 10_000;
const most = 500;

/**
 * From now on, drops what is older than `maxAge` ms, a few at a time, and gives the disk back what an outage took. Looks
 * every ten seconds, and twice within a shorter `maxAge`.
 */
export function keepSwept(bounds: Bounds, journal: Journal, maxAge: number): void {
  const every = Math.min(rarest, maxAge / 2);
  const sweep = async (): Promise<number> => {
    const old = Date.now() - maxAge;
    const gone = journal.read(() => bounds.oldest() < old) ? await journal.write(() => bounds.expire(old, most)) : 0;
    if (gone === 0) journal.read(() => bounds.shrink());
    return gone;
  };
  const again = async (): Promise<void> => {
    // What the disk says against it has been spoken of where it was written to.
    const gone = await sweep().catch(() => 0);
    setTimeout(again, gone === most ? 0 : every).unref();
  };
  void again();
}
