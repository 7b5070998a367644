import type { CounterName } from "./queue/counters.ts";
import type { Eviction } from "./queue/eviction.ts";
import type { Store } from "./queue/store.ts";
import type { Reply } from "./receive/receiver.ts";

const help: Record<CounterName, string> = {
  accepted: "Envelopes taken from the proxy and answered with 200",
  delivered: "Envelopes that an ingest answered with 2xx",
  dropped: "Envelopes given up: full (for what is worth more), age, unreadable, or the ingest's final answer",
  redelivered: "Envelopes sent again after an attempt of unknown outcome: the ingest may have them twice",
  lost: "Envelopes accepted that a later start no longer found: spool.db was gone, or set back",
};

/** Rejections by their labels since the start; they changed nothing on disk. */
export type Rejections = Map<string, number>;

/** Counts an answer that was no 200. */
export function countRejection(rejections: Rejections, { status, lost }: Reply): void {
  const labels = JSON.stringify({ status: `${status}`, ...lost });
  rejections.set(labels, (rejections.get(labels) ?? 0) + 1);
}

/** Returns the metrics in Prometheus' text format. https://prometheus.io/docs/instrumenting/exposition_formats/ */
export function metrics(
  store: Store,
  eviction: Eviction,
  rejections: Rejections,
  urls: ReadonlySet<string>,
  now = Date.now(),
): string {
  const queues = store.queues.occupied();
  const waiting = new Map<string, { envelopes: number; bytes: number }>();
  for (const { category, envelopes, bytes } of queues) {
    const sum = waiting.get(category) ?? { envelopes: 0, bytes: 0 };
    waiting.set(category, { envelopes: sum.envelopes + envelopes, bytes: sum.bytes + bytes });
  }
  const oldest = Math.min(now, ...queues.map((queue) => queue.oldest));
  const counters = store.counters.all();
  const counts = Object.entries(help).flatMap(([name, text]) => {
    const samples = counters
      .filter((counters) => counters.name === name)
      .map(({ reason, category, count }): Sample => [reason ? { reason, category } : { category }, count]);
    return family(`${name}_total`, "counter", text, samples);
  });
  return [
    ...family(
      "queued_envelopes",
      "gauge",
      "Envelopes that wait",
      each(waiting, ({ envelopes }) => envelopes),
    ),
    ...family(
      "queued_bytes",
      "gauge",
      "Their bytes",
      each(waiting, ({ bytes }) => bytes),
    ),
    ...family("undeliverable_envelopes", "gauge", "Envelopes that wait for an ingest that no DSN names any more", [
      [{}, store.queues.undeliverable(urls)],
    ]),
    ...family("oldest_envelope_age_seconds", "gauge", "How long the oldest has waited", [[{}, (now - oldest) / 1_000]]),
    ...family("disk_bytes", "gauge", "What SPOOL_MAX_MB eviction", [[{}, eviction.pages().used]]),
    ...counts,
    ...family(
      "rejected_total",
      "counter",
      "Requests not answered with 200, since the start; what there was no room for (full) by category",
      [...rejections].map(([labels, n]) => [JSON.parse(labels), n]),
    ),
    "",
  ].join("\n");
}

type Sample = [labels: Record<string, string>, value: number];

const each = <T>(values: Map<string, T>, value: (of: T) => number): Sample[] =>
  [...values].map(([category, of]) => [{ category }, value(of)]);

function family(name: string, type: string, text: string, samples: Sample[]): string[] {
  const full = `culvert_spool_${name}`;
  const lines = samples.map(([labels, value]) => {
    const list = Object.entries(labels).map(([key, of]) => `${key}="${of}"`);
    return `${full}${list.length > 0 ? `{${list.join()}}` : ""} ${value}`;
  });
  return [`# HELP ${full} ${text}`, `# TYPE ${full} ${type}`, ...lines];
}
