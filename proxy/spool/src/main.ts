/** Starts the spool: reads the settings, opens the database, receives envelopes and delivers them. */
import { existsSync, statfsSync } from "node:fs";
import { Backoff } from "./deliver/backoff.ts";
import { createDelivery } from "./deliver/delivery.ts";
import { countReplicas } from "./deliver/replicas.ts";
import { createSend } from "./deliver/send.ts";
import { DeliveryWorker } from "./deliver/worker.ts";
import { closeForeign } from "./internal-network.ts";
import { log } from "./log.ts";
import { countRejection, metrics, type Rejections } from "./metrics.ts";
import { openDatabase } from "./queue/database.ts";
import { watchDisk } from "./queue/disk.ts";
import { Eviction } from "./queue/eviction.ts";
import { startExpiry } from "./queue/expiry.ts";
import { startLossDetection } from "./queue/loss-detection.ts";
import { Store } from "./queue/store.ts";
import { createReceive } from "./receive/receiver.ts";
import { closeServer, createSpoolServer } from "./server.ts";
import { folder, parseSettings, port } from "./settings.ts";
import { StartupError } from "./startup-error.ts";

/**
 * Longer than the timeout of a request to an ingest (10 s, deliver/send.ts), also on a busy machine: a request that is cut off would be
 * sent again. Shorter than the stop_grace_period in docker-compose.yml.
 */
const stopTimeoutMs = 18_000;

async function start(): Promise<void> {
  const settings = parseSettings(process.env);
  const onConnection = settings.internalNetwork ? await closeForeign(settings.internalNetwork) : () => {};
  const isNew = !existsSync(`${folder}/spool.db`);
  const database = openDatabase(folder);
  const { transactions, isHealthy } = watchDisk(database, folder, () => process.exit(1));
  const store = new Store(database);
  const freeDiskBytes = () => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  };
  const eviction = new Eviction(database, store, settings.maxBytes, freeDiskBytes);
  const saveMark = startLossDetection(folder, isNew, store, transactions);
  const urls = new Set(settings.destinations.map(({ url }) => url));

  const send = createSend(settings.ca);
  const backoffs = new Map(settings.destinations.map(({ host }) => [host, new Backoff(settings.rate)]));
  const workers = [...backoffs].map(([name, backoff]) => {
    const destinations = settings.destinations.filter(({ host }) => host === name);
    const deliveries = destinations.map((destination) =>
      createDelivery(destination, store, transactions, send, backoff),
    );
    return new DeliveryWorker(deliveries, backoff);
  });
  let replicas = 1;
  const shareRate = (count: number) => {
    replicas = count;
    for (const backoff of backoffs.values()) backoff.rate = settings.rate / count;
  };
  if (settings.replicas) countReplicas(settings.replicas, shareRate);

  const rejections: Rejections = new Map();
  const server = createSpoolServer({
    receive: createReceive(settings.destinations, store, eviction, transactions),
    isHealthy,
    metrics: () => transactions.read(() => metrics(store, eviction, rejections, urls, replicas)),
    onReply: (reply) => reply.status === 200 || countRejection(rejections, reply),
  });

  const stop = async (): Promise<void> => {
    await Promise.all([closeServer(server, stopTimeoutMs), ...workers.map((worker) => worker.stop(stopTimeoutMs))]);
    saveMark();
    database.close();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, stop);

  server.on("connection", onConnection).listen(port);
  startExpiry(eviction, transactions, settings.maxAgeMs);
  for (const worker of workers) worker.start();
  log(`ready on port ${port}; queued envelopes: ${store.mark().queued}`);
  const undeliverable = store.queues.undeliverable(urls);
  const problem = "envelopes are queued for an ingest that is in no configured DSN";
  if (undeliverable > 0) log(`SENTRY_DSN: ${undeliverable} ${problem}: set the old DSN again until they are delivered`);
}

try {
  await start();
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  log(error.message);
  process.exit(1);
}
