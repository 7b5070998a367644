import { type Bench, claim } from "../bench.ts";
import { type Contender, tunnelOf } from "../contenders.ts";
import { h2Envelopes } from "../load.ts";
import type { Comparison } from "../report.ts";

/** The same over HTTP/2, which is what browsers speak; the apps by themselves can't. */
export async function http2(bench: Bench): Promise<Comparison> {
  const { seconds } = bench.knobs;
  const plan = (name: Contender) => ({
    charged: [name],
    run: () => bench.h2load(h2Envelopes(tunnelOf(name), seconds), seconds),
    mustArrive: true,
  });
  const samples = await bench.compare({
    edge: plan("edge"),
    bare: plan("bare"),
    haproxy: plan("haproxy"),
    caddy: plan("caddy"),
  });
  const { edge, bare, haproxy, caddy } = samples;
  return {
    title: "Reports through the tunnel, HTTP/2",
    how: "h2load, one report at a time on each connection. Its own work per report is more than wrk's.",
    samples,
    claims: [
      claim("edge / bare proxy_pass, reports per CPU second", edge, bare, "perCore", { atLeast: 0.85 }),
      claim("edge / HAProxy, reports per CPU second", edge, haproxy, "perCore"),
      claim("edge / Caddy, reports per CPU second", edge, caddy, "perCore"),
    ],
  };
}
