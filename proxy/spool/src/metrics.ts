import type { CounterName } from "./queue/counters.ts";
import type { Eviction } from "./queue/eviction.ts";
import type { Store } from "./queue/store.ts";
import type { Reply } from "./receive/receiver.ts";

const counterHelp: Record<CounterName, string> = {
  accepted: "Envelopes answered with 200",
  delivered: "Envelopes that an ingest answered with 2xx",
  dropped: "Envelopes dropped: full (evicted), age, damaged, unreadable, or the ingest's final status",
  redelivered: "Envelopes sent again after an attempt with an unknown result: the ingest may have them twice",
  lost: "Accepted envelopes that a later start did not find: spool.db was gone or set back",
};

/** Rejected requests since the start, by their labels. In memory: they changed nothing on disk. */
export type Rejections = Map<string, number>;

/** Counts a reply other than 200. */
export function countRejection(rejections: Rejections, { status, rejected }: Reply): void {
  const labels = JSON.stringify({ status: `${status}`, ...rejected });
  rejections.set(labels, (rejections.get(labels) ?? 0) + 1);
}

/**
 * Returns the metrics in Prometheus' text format; `urls` are the destinations of the configured DSNs, `replicas` is how many share SPOOL_RATE.
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function metrics(
  { queues, counters }: Store,
  eviction: Eviction,
  rejections: Rejections,
  urls: ReadonlySet<string>,
  replicas: number,
  now = Date.now(),
): string {
  const queued = queues.nonEmpty();
  const byCategory = (value: "envelopes" | "bytes"): Sample[] => {
    const sums = new Map<string, number>();
    for (const queue of queued) sums.set(queue.category, (sums.get(queue.category) ?? 0) + queue[value]);
    return [...sums].map(([category, sum]) => [{ category }, sum]);
  };
  const gauge = (name: string, help: string, value: Sample[] | number) =>
    family(name, "gauge", help, typeof value === "number" ? [[{}, value]] : value);
  const counter = (name: string, help: string, samples: Sample[]) => family(`${name}_total`, "counter", help, samples);
  const ageSeconds = (now - Math.min(now, ...queued.map(({ oldest }) => oldest))) / 1_000;
  const undeliverable = queues.undeliverable(urls);
  const counts = counters.all();
  const samplesOf = (name: string): Sample[] =>
    counts
      .filter((series) => series.name === name)
      .map(({ reason, category, count }): Sample => [reason ? { reason, category } : { category }, count]);
  const rejected = [...rejections].map(([labels, count]): Sample => [JSON.parse(labels), count]);
  return [
    gauge("queued_envelopes", "Envelopes in the queues", byCategory("envelopes")),
    gauge("queued_bytes", "Bytes of the envelopes in the queues", byCategory("bytes")),
    gauge("undeliverable_envelopes", "Queued envelopes for an ingest that is in no configured DSN", undeliverable),
    gauge("oldest_envelope_age_seconds", "Age of the oldest queued envelope", ageSeconds),
    gauge("disk_bytes", "Size of the queues on disk, which SPOOL_MAX_MB limits", eviction.pages().used),
    gauge("limit_bytes", "SPOOL_MAX_MB, in bytes", eviction.maxBytes),
    gauge("disk_free_bytes", "Free for the queues; 64 MB of the disk stay unused", eviction.freeDiskBytes()),
    gauge("replicas", "Ready replicas of the spool, which share SPOOL_RATE", replicas),
    ...Object.entries(counterHelp).map(([name, help]) => counter(name, help, samplesOf(name))),
    counter("rejected", "Requests not answered with 200, since the start; by category if the queue was full", rejected),
  ].join("");
}

type Sample = [labels: Record<string, string>, value: number];

function family(name: string, type: string, help: string, samples: Sample[]): string {
  const full = `culvert_spool_${name}`;
  const lines = samples.map(([labels, value]) => {
    const list = Object.entries(labels).map(([key, label]) => `${key}="${label}"`);
    return `${full}${list.length > 0 ? `{${list.join()}}` : ""} ${value}`;
  });
  return [`# HELP ${full} ${help}`, `# TYPE ${full} ${type}`, ...lines, ""].join("\n");
}
