import type { Comparison, Options } from "./main.ts";
import { exec, start, wrk } from "./stack.ts";
import { inTurn, median } from "./statistics.ts";

const CONNECTIONS = 32;

/** Each contender's container, and the address where it accepts envelopes, with the arguments that the SDK adds for `tunnelRoute`. */
const CONTENDERS: Record<string, [service: string, url: string]> = {
  proxy: ["proxy", "https://proxy:8443/monitoring?o=1&p=1"],
  "bare Nginx": ["bare", "https://bare:8443/monitoring?o=1&p=1"],
  Caddy: ["caddy", "https://caddy:8443/monitoring?o=1&p=1"],
  "`tunnelRoute`": ["next-tunnels", "http://next-tunnels:3000/monitoring?o=1&p=1"],
  handler: ["next-tunnels", "http://next-tunnels:3000/tunnel-handler"],
  "`serveTunnelIntegration`": ["serve-tunnel", "http://serve-tunnel:3000/monitoring?o=1&p=1"],
};

/** Envelopes per second through each tunnel: the proxy, a bare Nginx, Caddy, and the SDK's own three. */
export async function tunnel({ rounds, seconds }: Options): Promise<Comparison> {
  const names = Object.keys(CONTENDERS);
  // One client sends all the load.
  await start(["sink", "load", "proxy", "bare", "caddy", "next-tunnels", "serve-tunnel"], {
    TUNNEL_RATE_PER_CLIENT: "999999",
  });
  const post = ["--data-binary", "@/files/envelope", "--header", "content-type: text/plain"];
  const patient = ["--retry", "120", "--retry-delay", "1", "--retry-all-errors"];
  for (const [, url] of Object.values(CONTENDERS)) await exec("load", "curl", "-sSkf", ...patient, ...post, url);
  const plans = names.map((name) => [name, () => measure(name, seconds)] as const);
  for (const [, warmUp] of plans) await warmUp();
  const samples = await inTurn(rounds, Object.fromEntries(plans));
  return {
    title: "Envelopes through the tunnel",
    head: ["", "per CPU second", "proxy ÷ this"],
    rows: names.map((name) => {
      const rates = samples[name] ?? [];
      // Round by round, so that other work on the machine cancels out.
      return [name, median(rates), median(rates.map((value, round) => (samples.proxy?.[round] ?? Number.NaN) / value))];
    }),
  };
}

/** Envelopes per second of processor time. Throws if more than 1 % did not reach the sink: rejecting is faster than forwarding. */
async function measure(name: string, seconds: number): Promise<number> {
  const [service, url] = CONTENDERS[name] ?? ["", ""];
  const [before, seen] = [await processorSeconds(service), await arrived()];
  const { requests, failed } = await wrk(url, CONNECTIONS, seconds, "post");
  const [after, reached] = [await processorSeconds(service), (await arrived()) - seen];
  if (requests === 0 || !(Math.min(requests - failed, reached) >= 0.99 * requests))
    throw new Error(`${name}: of ${requests} envelopes ${failed} failed, ${reached} arrived: not a measurement`);
  return requests / (after - before);
}

/** The processor time of a container (cgroup v2 in microseconds, else v1 in nanoseconds), including a few ms for this question. */
async function processorSeconds(service: string): Promise<number> {
  const files = "cat /sys/fs/cgroup/cpu.stat 2>/dev/null || cat /sys/fs/cgroup/cpuacct/cpuacct.usage";
  const [, v2, v1] = /^(?:usage_usec (\d+)|(\d+)$)/m.exec(await exec(service, "sh", "-c", files)) ?? [];
  return v2 ? Number(v2) / 1e6 : Number(v1) / 1e9;
}

/** The number of requests to the sink: https://nginx.org/en/docs/http/ngx_http_stub_status_module.html */
async function arrived(): Promise<number> {
  const text = await exec("sink", "curl", "-s", "http://127.0.0.1:8081/");
  return Number(/^ *\d+ +\d+ +(\d+) *$/m.exec(text)?.[1]);
}
