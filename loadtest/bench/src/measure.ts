import type { Load } from "./load.ts";
import type { Testbed } from "./testbed.ts";

const MIN_GOOD_SHARE = 0.99;

/**
 * Returns the envelopes per second of a contender's processor time. Throws if more than 1 % failed or did not reach the sink, because
 * rejecting is faster than forwarding.
 */
export async function measure(testbed: Testbed, name: string, run: () => Promise<Load>): Promise<number> {
  const [before, seen] = [await processorSeconds(testbed, name), await arrived(testbed)];
  const { requests, failed } = await run();
  const [after, seenAfter] = [await processorSeconds(testbed, name), await arrived(testbed)];
  const good = requests * MIN_GOOD_SHARE;
  if (requests === 0 || requests - failed < good || !(seenAfter - seen >= good))
    throw new Error(
      `${name}: of ${requests} envelopes ${failed} failed, ${seenAfter - seen} arrived: not a measurement`,
    );
  return requests / (after - before);
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
