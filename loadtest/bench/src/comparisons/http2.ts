import { type Bench, claim, claimsOfOtherProxies } from "../bench.ts";
import { type Contender, tunnelOf } from "../contenders.ts";
import { h2Envelopes } from "../load.ts";
import type { Comparison } from "../markdown.ts";

/** The same over HTTP/2, which browsers use; the apps without a proxy do not support it. */
export async function http2(bench: Bench): Promise<Comparison> {
  const { seconds } = bench.options;
  const plan = (name: Contender) => ({
    charged: [name],
    run: () => bench.h2load(h2Envelopes(tunnelOf(name), seconds), seconds),
    mustArrive: true,
  });
  const samples = await bench.compare({
    proxy: plan("proxy"),
    bare: plan("bare"),
    haproxy: plan("haproxy"),
    "haproxy-same-work": plan("haproxy-same-work"),
    caddy: plan("caddy"),
  });
  const { proxy, bare } = samples;
  return {
    title: "Envelopes through the tunnel, HTTP/2",
    how: "h2load, one envelope at a time on each connection. It needs more CPU per envelope than wrk.",
    samples,
    claims: [
      claim("proxy / bare proxy_pass, envelopes per CPU second", proxy, bare, "perCpuSecond", { atLeast: 0.8 }),
      ...claimsOfOtherProxies(samples),
    ],
  };
}
