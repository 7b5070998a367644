import type { Load } from "./load.ts";
import type { Reading } from "./meter.ts";
import { machineWork } from "./quiet.ts";
import type { Stage } from "./stage.ts";

/** One measurement: the load's findings, and what they cost the containers that were charged with it. */
export interface Sample extends Load {
  perSecond: number;
  /** Seconds of the charged containers' processor time for 1,000 requests. */
  costPer1000: number;
  /** Requests for one second of processor time: what a whole core would do, undisturbed by the machine's other work. */
  perCore: number;
  /** Share of that cost which fell on the last of the charged containers: behind a proxy, the app's. */
  lastShare: number;
  /** Requests that reached the sink, a second: the proof that reports were forwarded, and the size of a flood. */
  arrivedPerSecond: number;
  /** Share of a core that the charged containers used, and that load and sink used: the latter must stay below 1. */
  busy: number;
  otherBusy: number;
  /** Share of the whole machine that other work took meanwhile. */
  disturbance: number;
}

/** What to measure: the containers charged, the run itself, and whether its requests must show up at the sink. */
export interface Plan {
  charged: string[];
  run: () => Promise<Load>;
  mustArrive?: boolean;
}

const TOLERATED_FAILURES = 0.01;

/** Measures once; throws when more than 1 % failed or did not arrive, because speed at refusing is no speed. */
export async function measure(stage: Stage, { charged, run, mustArrive = false }: Plan): Promise<Sample> {
  const helpers = ["load", "sink"];
  const read = () => Promise.all([stage.processorTime(...charged), stage.processorTime(...helpers), arrived(stage)]);
  const [charge, help, seen] = await read();
  const start = performance.now();
  const load = await run();
  const elapsed = (performance.now() - start) / 1000;
  const [chargeAfter, helpAfter, seenAfter] = await read();

  if (load.requests === 0) throw new Error(`${charged[0]}: nothing was answered within ${load.seconds} s`);
  const good = load.requests * (1 - TOLERATED_FAILURES);
  if (load.requests - load.failed < good)
    throw new Error(`${charged[0]}: ${load.failed} of ${load.requests} requests failed: no measurement`);
  if (mustArrive && seenAfter - seen < good)
    throw new Error(`${charged[0]}: ${load.requests} reports answered, ${seenAfter - seen} arrived: no measurement`);

  const costs = used(charge, chargeAfter);
  const cost = sum(costs);
  const helpCost = sum(used(help, helpAfter));
  const { worked, all } = machineWork(help, helpAfter);
  return {
    ...load,
    perSecond: load.requests / load.seconds,
    costPer1000: (cost / load.requests) * 1000,
    perCore: load.requests / cost,
    lastShare: (costs.at(-1) as number) / cost,
    arrivedPerSecond: (seenAfter - seen) / elapsed,
    busy: cost / elapsed,
    otherBusy: helpCost / elapsed,
    disturbance: Math.max(0, worked - cost - helpCost) / all,
  };
}

const used = (before: Reading[], after: Reading[]) =>
  after.map(({ own }, index) => own - (before[index] as Reading).own);
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

/** How many requests the sink has answered, its own status page left out; from Nginx's stub_status. */
async function arrived(stage: Stage): Promise<number> {
  return parseStubStatus(await stage.exec("sink", "curl", "-s", "http://127.0.0.1:8081/"));
}

/** The third number of stub_status counts requests: https://nginx.org/en/docs/http/ngx_http_stub_status_module.html */
export function parseStubStatus(text: string): number {
  const requests = /^ *\d+ +\d+ +(\d+) *$/m.exec(text)?.[1];
  if (!requests) throw new Error(`no stub_status in: ${text.slice(0, 200)}`);
  return Number(requests);
}
