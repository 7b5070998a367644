import { type Bench, claim } from "../bench.ts";
import { type Contender, tunnelOf } from "../contenders.ts";
import { envelopeBytes } from "../far-end.ts";
import type { Comparison } from "../report.ts";

/** Reports per second through each tunnel: the SDK's own two, the bare limit, and two other proxies. */
export async function tunnel(bench: Bench): Promise<Comparison> {
  const plan = (name: Contender) => ({
    charged: [name],
    run: () => bench.wrk("envelope", tunnelOf(name), bench.knobs.connections),
    mustArrive: true,
  });
  const samples = await bench.compare({
    edge: plan("edge"),
    bare: plan("bare"),
    haproxy: plan("haproxy"),
    caddy: plan("caddy"),
    "tunnel-route": plan("tunnel-route"),
    "tunnel-handler": plan("tunnel-handler"),
  });
  const { edge, bare, haproxy, caddy } = samples;
  return {
    title: "Reports through the tunnel, HTTP/1.1",
    how:
      `${envelopeBytes} bytes an envelope, ${bench.knobs.connections} connections, TLS to the sink for all; TLS from the client as well, ` +
      "except for the two apps, which have plain HTTP and so are spared its cost.",
    samples,
    claims: [
      claim("edge / tunnelRoute, reports per second of CPU", edge, samples["tunnel-route"], "perCore", { atLeast: 20 }),
      claim("edge / tunnelRoute, reports per second", edge, samples["tunnel-route"], "perSecond"),
      claim("edge / tunnelRoute, p50", edge, samples["tunnel-route"], "p50"),
      claim("edge / tunnelRoute, p99", edge, samples["tunnel-route"], "p99"),
      claim("edge / tunnel handler, reports per second of CPU", edge, samples["tunnel-handler"], "perCore", {
        atLeast: 20,
      }),
      claim("edge / bare proxy_pass, reports per second of CPU", edge, bare, "perCore", { atLeast: 0.85 }),
      claim("edge / bare proxy_pass, reports per second", edge, bare, "perSecond"),
      claim("edge / HAProxy, reports per second of CPU", edge, haproxy, "perCore"),
      claim("edge / Caddy, reports per second of CPU", edge, caddy, "perCore"),
    ],
  };
}
