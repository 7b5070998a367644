/** Starts the spool: reads the settings, opens the database, takes envelopes, delivers them. */
import { existsSync, statfsSync } from "node:fs";
import { Backoff } from "./deliver/backoff.ts";
import { Delivery } from "./deliver/delivery.ts";
import { sender } from "./deliver/send.ts";
import { DeliveryWorker } from "./deliver/worker.ts";
import { log } from "./log.ts";
import { countRejection, metrics, type Rejections } from "./metrics.ts";
import { openDatabase } from "./queue/database.ts";
import { Disk } from "./queue/disk.ts";
import { Eviction } from "./queue/eviction.ts";
import { keepSwept } from "./queue/expiry.ts";
import { Store } from "./queue/store.ts";
import { Watermark } from "./queue/watermark.ts";
import { Receiver } from "./receive/receiver.ts";
import { closed, serve } from "./server.ts";
import { folder, parseSettings, port } from "./settings.ts";
import { StartupError } from "./startup-error.ts";

/**
 * Longer than an ingest has for its answer (10 s, ingest.ts), on a busy machine as well: what is cut off before would be sent again.
 * Shorter than the stop_grace_period of docker-compose.yml.
 */
const stopTimeoutMs = 18_000;

/** What is accepted within such a time before a kill may go missing unnoticed. */
const noteIntervalMs = 1_000;

function freeOn(place: string): number {
  const { bavail, bsize } = statfsSync(place);
  return bavail * bsize;
}

function start(): void {
  const settings = parseSettings(process.env);
  const isNew = !existsSync(`${folder}/spool.db`);
  const database = openDatabase(folder);
  const disk = new Disk(database, folder, () => process.exit(1));
  const store = new Store(database);
  const eviction = new Eviction(database, store, settings.maxBytes, () => freeOn(folder));

  const watermark = new Watermark(folder);
  const missing = watermark.missing(store.mark(), isNew);
  if (missing > 0) {
    const problem = isNew
      ? "has lost its spool.db"
      : "holds a spool.db that was set back, or whose write-ahead log was truncated";
    log(
      `${folder} ${problem}: ${missing} envelopes are missing; restore the volume if you can, the spool goes on without them`,
    );
    disk.commits
      .write(() => store.counters.add("lost", "default", isNew ? "gone" : "set_back", missing))
      // A full disk is told, and no reason not to start.
      .catch(() => {});
  }
  const note = () => {
    try {
      watermark.keep(disk.commits.read(() => store.mark()));
    } catch {
      // The failure is logged: what is wrong with the database.
    }
  };
  note();
  setInterval(note, noteIntervalMs).unref();

  const urls = new Set(settings.destinations.map(({ url }) => url));

  const send = sender(settings.ca);
  const backoffs = new Map(settings.destinations.map(({ host }) => [host, new Backoff(settings.rate)]));
  const workers = settings.destinations.map((to) => {
    const backoff = backoffs.get(to.host) as Backoff;
    return new DeliveryWorker(new Delivery(to, store, disk.commits, send, backoff), backoff);
  });

  const rejections: Rejections = new Map();
  const server = serve({
    receiver: new Receiver(settings.destinations, store, eviction, disk.commits),
    isWell: () => disk.isWell(),
    metrics: () => disk.commits.read(() => metrics(store, eviction, rejections, urls)),
    answered: (reply) => reply.status === 200 || countRejection(rejections, reply),
  });

  const stop = async (): Promise<void> => {
    await Promise.all([closed(server, stopTimeoutMs), ...workers.map((worker) => worker.stop(stopTimeoutMs))]);
    note();
    database.close();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, stop);

  server.listen(port);
  keepSwept(eviction, disk.commits, settings.maxAge);
  for (const worker of workers) worker.start();
  const waiting = store.queues.occupied().reduce((sum, { envelopes }) => sum + envelopes, 0);
  log(`ready on port ${port}; envelopes waiting: ${waiting}`);
  const undeliverable = store.queues.undeliverable(urls);
  if (undeliverable > 0)
    log(
      `SENTRY_DSN: ${undeliverable} envelopes wait for an ingest that no DSN names: set the old DSN again until they are delivered`,
    );
}

try {
  start();
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  log(error.message);
  process.exit(1);
}
