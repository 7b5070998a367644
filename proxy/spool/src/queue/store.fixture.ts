import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "./database.ts";
import { Eviction } from "./eviction.ts";
import { type NewEnvelope, Store } from "./store.ts";

export const headers = {
  "Content-Type": "text/plain",
  "User-Agent": "a browser",
  "X-Forwarded-For": "192.0.2.1",
};
export const claim = { max: 10, bytes: 1 << 20, except: [] as number[] };

/** Opens a store in a new folder, or in this one, with a SPOOL_MAX_MB of `megabytes` and a free disk. */
export function openStore(folder = mkdtempSync(join(tmpdir(), "spool-")), megabytes = 8) {
  const database = openDatabase(folder);
  const store = new Store(database);
  let free = 1 << 30;
  const eviction = new Eviction(database, store, megabytes << 20, () => free);
  const newEnvelope = (category: string, received = 0, size = 100): NewEnvelope => {
    return { destination: "http://ingest/", category, received, headers, body: Buffer.alloc(size, category) };
  };
  /** Claims from the first queue. */
  const first = (max = 10, except: number[] = []) => {
    const [queue] = store.queues.nonEmpty();
    return queue ? store.claim(queue, { ...claim, max, except }) : [];
  };
  /** The counters, as "name reason category". */
  const counts = () =>
    Object.fromEntries(
      store.counters.all().map((t) => [[t.name, t.reason, t.category].filter(Boolean).join(" "), t.count]),
    );
  return {
    database,
    store,
    eviction,
    newEnvelope,
    first,
    counts,
    folder,
    setFree: (bytes: number) => {
      free = bytes;
    },
  };
}
