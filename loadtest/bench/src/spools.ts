import { cpus } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { load, runWrk, sink, spool } from "./contenders.ts";
import type { Load } from "./load.ts";
import { measure, type Sample } from "./measure.ts";
import type { Options } from "./options.ts";
import type { Comparison } from "./results.ts";
import { inTurn, median, ratio } from "./statistics.ts";
import { type Testbed, withTestbed } from "./testbed.ts";
import { envelopeBytes, ingestHost } from "./workload.ts";

const CONNECTIONS = 64;
/** Nothing listens on port 1. */
const ingests = { "ingest down": `${ingestHost}:1`, "and delivered": ingestHost };
type Row = { count: number; ingest: keyof typeof ingests };
const rows = (Object.keys(ingests) as Row["ingest"][]).flatMap((ingest) =>
  [1, 2, 4].map((count) => ({ count, ingest })),
);
const nameOf = ({ count, ingest }: Row) => `${count} ${count > 1 ? "spools" : "spool"}, ${ingest}`;
type SpoolSample = Sample & { megabytes: number };

/** Envelopes per second that 1, 2 and 4 spools side by side write to disk: while the ingest is down, and with their delivery. */
export async function spools({ rounds, seconds }: Options): Promise<Comparison> {
  const samples = await withTestbed(async (testbed) => {
    await testbed.open([]);
    await testbed.start("sink", sink);
    await testbed.start("load", load);
    await testbed.ready("sink", `https://${ingestHost}/`);
    const one = (row: Row) => [nameOf(row), () => measureSpools(testbed, row, seconds)] as const;
    return inTurn(rounds, Object.fromEntries(rows.map(one)));
  });
  const of = (row: Row, key: keyof SpoolSample) => (samples[nameOf(row)] ?? []).map((sample) => sample[key]);
  return {
    title: "Spools side by side",
    how:
      `${envelopeBytes} bytes an envelope, ${CONNECTIONS} connections to each spool, HTTP/1.1; each spool on one core, with a volume of its own, ` +
      `an answer after fsync. Load generator and ingest share core 1 with spools. Medians of ${rounds} rounds in turn, ${seconds} s each. ` +
      "*Delivered*: until the ingest has the last one; the rate of delivery rises for 4 s.",
    head: ["", "per second", "÷ one spool", "per CPU second", "÷ one spool", "p99 ms", "MB each"],
    rows: rows.map((row) => {
      const single = { ...row, count: 1 };
      return [
        nameOf(row),
        ...[median(of(row, "perSecond")), ratio(of(row, "perSecond"), of(single, "perSecond"))],
        ...[median(of(row, "perCpuSecond")), ratio(of(row, "perCpuSecond"), of(single, "perCpuSecond"))],
        ...[median(of(row, "p99")), median(of(row, "megabytes"))],
      ];
    }),
    chart: 1,
  };
}

/** Measures new spools with empty queues, and removes them. */
async function measureSpools(testbed: Testbed, { count, ingest }: Row, seconds: number): Promise<SpoolSample> {
  const names = Array.from({ length: count }, (_, at) => `spool-${at}`);
  const settings = { SENTRY_DSN: `https://key@${ingests[ingest]}/1`, SPOOL_RATE: "100000" };
  const isDelivered = ingest === "and delivered";
  const header = `X-Spool-Destination: https://${ingests[ingest]}/api/1/envelope/`;
  for (const [at, name] of names.entries())
    await testbed.start(name, { ...spool(settings), core: String(at % cpus().length) });
  for (const name of names) await testbed.ready(name, `http://${name}:8082/healthz`);
  const run = async (): Promise<Load> => {
    const start = performance.now();
    const post = (name: string) => runWrk(testbed, "envelope", `http://${name}:8082/`, CONNECTIONS, seconds, header);
    const loads = await Promise.all(names.map(post));
    for (const name of isDelivered ? names : []) while (await isQueued(testbed, name)) await pause(50);
    const sum = (key: "requests" | "failed") => loads.reduce((all, one) => all + one[key], 0);
    const max = (key: "seconds" | "p50" | "p95" | "p99") => Math.max(...loads.map((one) => one[key]));
    return {
      ...{ requests: sum("requests"), failed: sum("failed"), p50: max("p50"), p95: max("p95"), p99: max("p99") },
      seconds: isDelivered ? (performance.now() - start) / 1_000 : max("seconds"),
    };
  };
  const sample = await measure(testbed, { charged: names, run, mustArrive: isDelivered });
  const peaks = await Promise.all(names.map((name) => testbed.exec(name, "grep", "VmHWM", "/proc/1/status")));
  for (const name of names) await testbed.remove(name);
  return { ...sample, megabytes: Math.max(...peaks.map((line) => Number(/\d+/.exec(line)) / 1024)) };
}

const isQueued = async (testbed: Testbed, name: string) =>
  (await testbed.exec("sink", "curl", "-s", `http://${name}:8082/metrics`)).includes(
    "\nculvert_spool_queued_envelopes{",
  );
