import type { Load } from "./load.ts";
import type { Reading } from "./processor.ts";
import type { Testbed } from "./testbed.ts";

/** What a load cost the charged containers. */
export interface Cost {
  perSecond: number;
  /** Requests per second of processor time: the throughput of a whole core without other work. */
  perCpuSecond: number;
  /** Requests per second that reached the sink: proves that envelopes were forwarded. */
  arrivedPerSecond: number;
  /** Cores that load and sink used: must stay below 1. */
  coresUsedByLoad: number;
  /** Share of the whole machine that other work used. */
  otherWorkShare: number;
}

/** One measurement: the load's results, and their cost to the charged containers. */
export type Sample = Load & Cost;

/** A measurement to make: the containers charged, the run itself, and whether its requests must reach the sink. */
export interface Plan<Results extends Load = Load> {
  charged: string[];
  run: () => Promise<Results>;
  mustArrive?: boolean;
  /** Whether failures are part of the results, as in an overload. */
  mayFail?: boolean;
}

const MAX_FAILED_SHARE = 0.01;

/** Measures once. Throws if more than 1 % failed or did not arrive, because rejecting is faster than forwarding. */
export async function measure<Results extends Load>(
  testbed: Testbed,
  { charged, run, mustArrive = false, mayFail = false }: Plan<Results>,
): Promise<Results & Cost> {
  const read = () =>
    Promise.all([testbed.processorTime(...charged), testbed.processorTime("load", "sink"), arrived(testbed)]);
  const [charge, help, seen] = await read();
  const start = performance.now();
  const load = await run();
  const elapsed = (performance.now() - start) / 1000;
  const [chargeAfter, helpAfter, seenAfter] = await read();

  const who = `${charged[0]}:`;
  const good = load.requests * (1 - MAX_FAILED_SHARE);
  if (load.requests === 0) throw new Error(`${who} no response within ${load.seconds} s`);
  if (!mayFail && load.requests - load.failed < good)
    throw new Error(`${who} ${load.failed} of ${load.requests} requests failed: not a measurement`);
  if (mustArrive && seenAfter - seen < good)
    throw new Error(`${who} ${load.requests} envelopes accepted, ${seenAfter - seen} arrived: not a measurement`);

  const [cost, helpCost] = [used(charge, chargeAfter), used(help, helpAfter)];
  const [before, after] = [help[0] as Reading, helpAfter[0] as Reading];
  return {
    ...load,
    perSecond: load.requests / load.seconds,
    perCpuSecond: load.requests / cost,
    arrivedPerSecond: (seenAfter - seen) / elapsed,
    coresUsedByLoad: helpCost / elapsed,
    otherWorkShare: Math.max(0, after.worked - before.worked - cost - helpCost) / (after.all - before.all),
  };
}

const used = (before: Reading[], after: Reading[]) =>
  after.reduce((total, { own }, index) => total + own - (before[index] as Reading).own, 0);

/** The number of requests to the sink: https://nginx.org/en/docs/http/ngx_http_stub_status_module.html */
async function arrived(testbed: Testbed): Promise<number> {
  const text = await testbed.exec("sink", "curl", "-s", "http://127.0.0.1:8081/");
  const requests = /^ *\d+ +\d+ +(\d+) *$/m.exec(text)?.[1];
  if (!requests) throw new Error(`no stub_status in: ${text.slice(0, 200)}`);
  return Number(requests);
}
