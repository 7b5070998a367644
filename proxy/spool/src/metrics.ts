import type { Bounds } from "./bounds.ts";
import type { Reply } from "./intake.ts";
import type { Store } from "./store.ts";
import type { Counted } from "./tally.ts";

const help: Record<Counted, string> = {
  accepted: "Envelopes taken from the proxy and answered with 200",
  delivered: "Envelopes that an ingest answered with 2xx",
  dropped: "Envelopes given up: full (for what is worth more), age, unreadable, or the ingest's final answer",
  repeated: "Envelopes sent again after an attempt of unknown outcome: the ingest may have them twice",
  missing: "Envelopes accepted that a later start no longer found: spool.db was gone, or set back",
};

/** Refusals by their labels since the start; they changed nothing on disk. */
export type Refusals = Map<string, number>;

/** Counts an answer that was no 200. */
export function countRefusal(refusals: Refusals, { status, lost }: Reply): void {
  const labels = JSON.stringify({ status: `${status}`, ...lost });
  refusals.set(labels, (refusals.get(labels) ?? 0) + 1);
}

/** Returns the metrics in Prometheus' text format. https://prometheus.io/docs/instrumenting/exposition_formats/ */
export function metrics(
  store: Store,
  bounds: Bounds,
  refusals: Refusals,
  urls: ReadonlySet<string>,
  now = Date.now(),
): string {
  const lanes = store.lanes.occupied();
  const waiting = new Map<string, { envelopes: number; bytes: number }>();
  for (const { category, envelopes, bytes } of lanes) {
    const sum = waiting.get(category) ?? { envelopes: 0, bytes: 0 };
    waiting.set(category, { envelopes: sum.envelopes + envelopes, bytes: sum.bytes + bytes });
  }
  const oldest = Math.min(now, ...lanes.map((lane) => lane.oldest));
  const tallies = store.tally.all();
  const counts = Object.entries(help).flatMap(([name, text]) => {
    const samples = tallies
      .filter((tally) => tally.name === name)
      .map(({ reason, category, count }): Sample => [reason ? { reason, category } : { category }, count]);
    return family(`${name}_total`, "counter", text, samples);
  });
  return [
    ...family(
      "waiting_envelopes",
      "gauge",
      "Envelopes that wait",
      each(waiting, ({ envelopes }) => envelopes),
    ),
    ...family(
      "waiting_bytes",
      "gauge",
      "Their bytes",
      each(waiting, ({ bytes }) => bytes),
    ),
    ...family("undeliverable_envelopes", "gauge", "Envelopes that wait for an ingest that no DSN names any more", [
      [{}, store.lanes.undeliverable(urls)],
    ]),
    ...family("oldest_seconds", "gauge", "How long the oldest has waited", [[{}, (now - oldest) / 1_000]]),
    ...family("disk_bytes", "gauge", "What SPOOL_MAX_MB bounds", [[{}, bounds.pages().used]]),
    ...counts,
    ...family(
      "refused_total",
      "counter",
      "Requests not answered with 200, since the start; what there was no room for (full) by category",
      [...refusals].map(([labels, n]) => [JSON.parse(labels), n]),
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
