import { type Bench, claim, claimsOfOtherProxies } from "../bench.ts";
import { type Contender, tunnelOf, tunnelRouteBehindTls } from "../contenders.ts";
import type { Comparison } from "../markdown.ts";
import { envelopeBytes } from "../workload.ts";

/** Envelopes per second through each tunnel: the SDK's two, the bare Nginx, and two other proxies. */
export async function tunnel(bench: Bench): Promise<Comparison> {
  const post = (url: string, ...charged: string[]) => ({
    charged,
    run: () => bench.wrk("envelope", url, bench.options.connections),
    mustArrive: true,
  });
  const plan = (name: Contender) => post(tunnelOf(name), name);
  const samples = await bench.compare({
    proxy: plan("proxy"),
    bare: plan("bare"),
    haproxy: plan("haproxy"),
    "haproxy-same-work": plan("haproxy-same-work"),
    caddy: plan("caddy"),
    "tunnel-route": plan("tunnel-route"),
    "tunnel-route, TLS": post(tunnelRouteBehindTls, "bare", "tunnel-route"),
    "tunnel-handler": plan("tunnel-handler"),
  });
  const { proxy, bare } = samples;
  const [route, routeTls] = [samples["tunnel-route"], samples["tunnel-route, TLS"]];
  return {
    title: "Envelopes through the tunnel, HTTP/1.1",
    how:
      `${envelopeBytes} bytes an envelope, ${bench.options.connections} connections, TLS to the sink for all. TLS from the client as well, ` +
      "except for the two apps without a proxy, which use plain HTTP and save its cost; 'TLS' has the bare Nginx in front of the app.",
    samples,
    claims: [
      claim("proxy / tunnelRoute, envelopes per CPU second", proxy, route, "perCpuSecond", { atLeast: 20 }),
      claim("proxy / tunnelRoute behind TLS, envelopes per CPU second", proxy, routeTls, "perCpuSecond", {
        atLeast: 20,
      }),
      claim("bare proxy_pass / tunnelRoute, envelopes per CPU second", bare, route, "perCpuSecond"),
      claim("proxy / tunnelRoute, envelopes per second", proxy, route, "perSecond"),
      claim("proxy / tunnelRoute, p50", proxy, route, "p50"),
      claim("proxy / tunnelRoute, p99", proxy, route, "p99"),
      claim("proxy / tunnel handler, envelopes per CPU second", proxy, samples["tunnel-handler"], "perCpuSecond", {
        atLeast: 20,
      }),
      claim("proxy / bare proxy_pass, envelopes per CPU second", proxy, bare, "perCpuSecond", { atLeast: 0.8 }),
      claim("proxy / bare proxy_pass, envelopes per second", proxy, bare, "perSecond"),
      ...claimsOfOtherProxies(samples),
    ],
  };
}
