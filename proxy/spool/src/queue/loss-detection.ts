import { log } from "../log.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { Store } from "./store.ts";
import { Watermark } from "./watermark.ts";

/** What is accepted within this time before a kill may be lost unnoticed. */
const saveIntervalMs = 1_000;

/**
 * Logs and counts envelopes that the database has lost since the last run (`isNew`: there was no database), then saves the
 * high-water mark every second. Returns a function that saves it at once, for a clean stop.
 */
export function startLossDetection(
  folder: string,
  isNew: boolean,
  store: Store,
  transactions: GroupCommit,
): () => void {
  const watermark = new Watermark(folder);
  const lost = watermark.lost(store.mark(), isNew);
  if (lost > 0) {
    const problem = isNew
      ? "has lost its spool.db"
      : "holds a spool.db that was set back, or whose write-ahead log was truncated";
    log(
      `${folder} ${problem}: ${lost} envelopes are lost; restore the volume if you can, the spool continues without them`,
    );
    transactions
      .write(() => store.counters.add("lost", "default", isNew ? "gone" : "set_back", lost))
      // Reported by Disk. A full disk is no reason not to start.
      .catch(() => {});
  }
  const save = () => {
    try {
      watermark.save(transactions.read(() => store.mark()));
    } catch {
      // Reported by Disk.
    }
  };
  save();
  setInterval(save, saveIntervalMs).unref();
  return save;
}
