import { machineWork } from "./idle.ts";
import type { Load } from "./load.ts";
import type { Reading } from "./meter.ts";
import type { Testbed } from "./testbed.ts";

/** What a load cost the charged containers. */
export interface Cost {
  perSecond: number;
  /** Processor time of the charged containers for 1,000 requests, in seconds. */
  cpuSecondsPer1000: number;
  /** Requests per second of processor time: the throughput of a whole core without other work. */
  perCpuSecond: number;
  /** The last charged container's share of that cost: behind a proxy, the app's. */
  lastContainerShare: number;
  /** Requests per second that reached the sink: proves that envelopes were forwarded. */
  arrivedPerSecond: number;
  /** Cores that the charged containers used, and that load and sink used: the latter must stay below 1. */
  coresUsed: number;
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

/** Measures once; throws if more than 1 % failed or did not arrive, because rejecting is faster than forwarding. */
export async function measure<Results extends Load>(
  testbed: Testbed,
  { charged, run, mustArrive = false, mayFail = false }: Plan<Results>,
): Promise<Results & Cost> {
  const helpers = ["load", "sink"];
  const read = () =>
    Promise.all([testbed.processorTime(...charged), testbed.processorTime(...helpers), arrived(testbed)]);
  const [charge, help, seen] = await read();
  const start = performance.now();
  const load = await run();
  const elapsed = (performance.now() - start) / 1000;
  const [chargeAfter, helpAfter, seenAfter] = await read();

  if (load.requests === 0) throw new Error(`${charged[0]}: no response within ${load.seconds} s`);
  const good = load.requests * (1 - MAX_FAILED_SHARE);
  if (!mayFail && load.requests - load.failed < good)
    throw new Error(`${charged[0]}: ${load.failed} of ${load.requests} requests failed: not a measurement`);
  if (mustArrive && seenAfter - seen < good)
    throw new Error(
      `${charged[0]}: ${load.requests} envelopes accepted, ${seenAfter - seen} arrived: not a measurement`,
    );

  const costs = used(charge, chargeAfter);
  const cost = sum(costs);
  const helpCost = sum(used(help, helpAfter));
  const { worked, all } = machineWork(help, helpAfter);
  return {
    ...load,
    perSecond: load.requests / load.seconds,
    cpuSecondsPer1000: (cost / load.requests) * 1000,
    perCpuSecond: load.requests / cost,
    lastContainerShare: (costs.at(-1) as number) / cost,
    arrivedPerSecond: (seenAfter - seen) / elapsed,
    coresUsed: cost / elapsed,
    coresUsedByLoad: helpCost / elapsed,
    otherWorkShare: Math.max(0, worked - cost - helpCost) / all,
  };
}

const used = (before: Reading[], after: Reading[]) =>
  after.map(({ own }, index) => own - (before[index] as Reading).own);
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

/** The number of requests to the sink, from Nginx's stub_status. */
async function arrived(testbed: Testbed): Promise<number> {
  return parseStubStatus(await testbed.exec("sink", "curl", "-s", "http://127.0.0.1:8081/"));
}

/** The third number of stub_status counts requests: https://nginx.org/en/docs/http/ngx_http_stub_status_module.html */
export function parseStubStatus(text: string): number {
  const requests = /^ *\d+ +\d+ +(\d+) *$/m.exec(text)?.[1];
  if (!requests) throw new Error(`no stub_status in: ${text.slice(0, 200)}`);
  return Number(requests);
}
