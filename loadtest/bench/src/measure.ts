import type { Load } from "./load.ts";
import type { Testbed } from "./testbed.ts";

/** One measurement: the load's results, and their cost to the charged containers. */
export type Sample = Load & {
  perSecond: number;
  /** Requests per second of processor time: the throughput of a whole core without other work. */
  perCpuSecond: number;
};

/** A measurement to make: the containers charged, the run itself, and whether its requests must reach the sink. */
export interface Plan {
  charged: string[];
  run: () => Promise<Load>;
  mustArrive?: boolean;
}

const MIN_GOOD_SHARE = 0.99;

/** Measures once. Throws if more than 1 % failed or did not arrive, because rejecting is faster than forwarding. */
export async function measure(testbed: Testbed, { charged, run, mustArrive = false }: Plan): Promise<Sample> {
  const used = async () => {
    const seconds = await Promise.all(charged.map((name) => processorSeconds(testbed, name)));
    return seconds.reduce((sum, one) => sum + one, 0);
  };
  const [before, seen] = [await used(), await arrived(testbed)];
  const load = await run();
  const [after, seenAfter] = [await used(), await arrived(testbed)];
  const good = load.requests * MIN_GOOD_SHARE;
  if (load.requests === 0 || load.requests - load.failed < good)
    throw new Error(`${charged[0]}: ${load.failed} of ${load.requests} requests failed: not a measurement`);
  if (mustArrive && !(seenAfter - seen >= good))
    throw new Error(
      `${charged[0]}: ${load.requests} envelopes accepted, ${seenAfter - seen} arrived: not a measurement`,
    );
  return { ...load, perSecond: load.requests / load.seconds, perCpuSecond: load.requests / (after - before) };
}

/** The processor time of a container (cgroup v2 in microseconds, else v1 in nanoseconds), including a few ms for this question. */
async function processorSeconds(testbed: Testbed, name: string): Promise<number> {
  const files = "cat /sys/fs/cgroup/cpu.stat 2>/dev/null || cat /sys/fs/cgroup/cpuacct/cpuacct.usage";
  const [, v2, v1] = /^(?:usage_usec (\d+)|(\d+)$)/m.exec(await testbed.exec(name, "sh", "-c", files)) ?? [];
  return v2 ? Number(v2) / 1e6 : Number(v1) / 1e9;
}

/** The number of requests to the sink: https://nginx.org/en/docs/http/ngx_http_stub_status_module.html */
async function arrived(testbed: Testbed): Promise<number> {
  const text = await testbed.exec("sink", "curl", "-s", "http://127.0.0.1:8081/");
  return Number(/^ *\d+ +\d+ +(\d+) *$/m.exec(text)?.[1]);
}
