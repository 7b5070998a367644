/** Starts the spool: reads the settings, opens the database, takes envelopes, delivers them. */
import { existsSync, statfsSync } from "node:fs";
import { Bounds } from "./bounds.ts";
import { Courier } from "./courier.ts";
import { openDatabase } from "./database.ts";
import { Delivery } from "./delivery.ts";
import { Disk } from "./disk.ts";
import { sender } from "./ingest.ts";
import { Intake } from "./intake.ts";
import { say } from "./log.ts";
import { countRefusal, metrics, type Refusals } from "./metrics.ts";
import { Pace } from "./pace.ts";
import { Refusal } from "./refusal.ts";
import { closed, serve } from "./server.ts";
import { folder, parseSettings, port } from "./settings.ts";
import { Store } from "./store.ts";
import { keepSwept } from "./sweep.ts";
import { Watermark } from "./watermark.ts";

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
  const bounds = new Bounds(database, store, settings.maxBytes, () => freeOn(folder));

  const watermark = new Watermark(folder);
  const missing = watermark.missing(store.mark(), isNew);
  if (missing > 0) {
    const problem = isNew
      ? "has lost its spool.db"
      : "holds a spool.db that was set back, or whose journal was cut short";
    say(
      `${folder} ${problem}: ${missing} envelopes are missing; restore the volume if you can, the spool goes on without them`,
    );
    disk.journal
      .write(() => store.tally.add("missing", "default", isNew ? "gone" : "set_back", missing))
      // A full disk is told, and no reason not to start.
      .catch(() => {});
  }
  const note = () => {
    try {
      watermark.keep(disk.journal.read(() => store.mark()));
    } catch {
      // The journal has said what is wrong with the database.
    }
  };
  note();
  setInterval(note, noteIntervalMs).unref();

  const urls = new Set(settings.destinations.map(({ url }) => url));

  const send = sender(settings.ca);
  const paces = new Map(settings.destinations.map(({ host }) => [host, new Pace(settings.rate)]));
  const couriers = settings.destinations.map((to) => {
    const pace = paces.get(to.host) as Pace;
    return new Courier(new Delivery(to, store, disk.journal, send, pace), pace);
  });

  const refusals: Refusals = new Map();
  const server = serve({
    intake: new Intake(settings.destinations, store, bounds, disk.journal),
    isWell: () => disk.isWell(),
    metrics: () => disk.journal.read(() => metrics(store, bounds, refusals, urls)),
    answered: (reply) => reply.status === 200 || countRefusal(refusals, reply),
  });

  const stop = async (): Promise<void> => {
    await Promise.all([closed(server, stopTimeoutMs), ...couriers.map((courier) => courier.stop(stopTimeoutMs))]);
    note();
    database.close();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, stop);

  server.listen(port);
  keepSwept(bounds, disk.journal, settings.maxAge);
  for (const courier of couriers) courier.start();
  const waiting = store.lanes.occupied().reduce((sum, { envelopes }) => sum + envelopes, 0);
  say(`ready on port ${port}; envelopes waiting: ${waiting}`);
  const undeliverable = store.lanes.undeliverable(urls);
  if (undeliverable > 0)
    say(
      `SENTRY_DSN: ${undeliverable} envelopes wait for an ingest that no DSN names: set the old DSN again until they are delivered`,
    );
}

try {
  start();
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  say(error.message);
  process.exit(1);
}
