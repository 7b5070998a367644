import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "./database.ts";
import { Eviction } from "./eviction.ts";
import { type NewEnvelope, Store } from "./store.ts";

export const headers = { "Content-Type": "text/plain", "User-Agent": "a browser", "X-Forwarded-For": "192.0.2.1" };
export const claim = { max: 10, bytes: 1 << 20, except: [] as number[] };

/** Opens a store in this folder with a SPOOL_MAX_MB of 8 and a free disk. */
export function openStore(folder = mkdtempSync(join(tmpdir(), "spool-"))) {
  const database = openDatabase(folder);
  // No test waits for the disk.
  database.exec("PRAGMA synchronous = OFF");
  const store = new Store(database);
  const disk = { free: 1 << 30 };
  const eviction = new Eviction(database, store, 8 << 20, () => disk.free);
  const newEnvelope = (category: string, received = 0, size = 100, isLarge = false): NewEnvelope => {
    return { destination: "http://ingest/", category, isLarge, received, headers, body: Buffer.alloc(size, category) };
  };
  const first = (max = 10, except: number[] = []) => {
    const [queue] = store.queues.nonEmpty();
    return queue ? store.claim(queue, { ...claim, max, except }) : [];
  };
  /** The counters, as "name reason category". */
  const counts = () => {
    const all = store.counters.all();
    return Object.fromEntries(
      all.map(({ name, reason, category, count }) => [[name, reason, category].filter(Boolean).join(" "), count]),
    );
  };
  return { database, store, eviction, newEnvelope, first, counts, folder, disk };
}
