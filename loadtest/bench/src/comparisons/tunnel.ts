import { type Bench, claim } from "../bench.ts";
import { type Contender, tunnelOf, tunnelRouteBehindTls } from "../contenders.ts";
import { envelopeBytes } from "../far-end.ts";
import type { Comparison } from "../report.ts";

/** Reports per second through each tunnel: the SDK's own two, the bare limit, and two other proxies. */
export async function tunnel(bench: Bench): Promise<Comparison> {
  const post = (url: string, ...charged: string[]) => ({
    charged,
    run: () => bench.wrk("envelope", url, bench.knobs.connections),
    mustArrive: true,
  });
  const plan = (name: Contender) => post(tunnelOf(name), name);
  const samples = await bench.compare({
    edge: plan("edge"),
    bare: plan("bare"),
    haproxy: plan("haproxy"),
    caddy: plan("caddy"),
    "tunnel-route": plan("tunnel-route"),
    "tunnel-route, TLS": post(tunnelRouteBehindTls, "bare", "tunnel-route"),
    "tunnel-handler": plan("tunnel-handler"),
  });
  const { edge, bare, haproxy, caddy } = samples;
  const [route, routeTls] = [samples["tunnel-route"], samples["tunnel-route, TLS"]];
  return {
    title: "Reports through the tunnel, HTTP/1.1",
    how:
      `${envelopeBytes} bytes an envelope, ${bench.knobs.connections} connections, TLS to the sink for all. TLS from the client as well, ` +
      "except for the two apps by themselves, which have plain HTTP and are spared its cost; with TLS, the bare Nginx stands before the app.",
    samples,
    claims: [
      claim("edge / tunnelRoute, reports per CPU second", edge, route, "perCore", { atLeast: 20 }),
      claim("edge / tunnelRoute behind TLS, reports per CPU second", edge, routeTls, "perCore", { atLeast: 20 }),
      claim("bare proxy_pass / tunnelRoute, reports per CPU second", bare, route, "perCore"),
      claim("edge / tunnelRoute, reports per second", edge, route, "perSecond"),
      claim("edge / tunnelRoute, p50", edge, route, "p50"),
      claim("edge / tunnelRoute, p99", edge, route, "p99"),
      claim("edge / tunnel handler, reports per CPU second", edge, samples["tunnel-handler"], "perCore", {
        atLeast: 20,
      }),
      claim("edge / bare proxy_pass, reports per CPU second", edge, bare, "perCore", { atLeast: 0.85 }),
      claim("edge / bare proxy_pass, reports per second", edge, bare, "perSecond"),
      claim("edge / HAProxy, reports per CPU second", edge, haproxy, "perCore"),
      claim("edge / Caddy, reports per CPU second", edge, caddy, "perCore"),
    ],
  };
}
