import { setTimeout as pause } from "node:timers/promises";
import { type Bench, claim } from "../bench.ts";
import { type Contender, originOf, tunnelOf } from "../contenders.ts";
import { pacedEnvelopes, pacedPages, wrk } from "../load.ts";
import type { Comparison } from "../markdown.ts";
import type { Plan } from "../measure.ts";

const LEAD_SECONDS = 1;
const GOAL = { atMost: 1.25 };

/** How a flood of envelopes affects pages: page requests at a constant rate, alone and during floods of two sizes. */
export async function flood(bench: Bench): Promise<Comparison> {
  const { pageRate, floodRate, seconds, connections } = bench.options;
  const long = seconds * 2;
  const lasts = long + LEAD_SECONDS + 1;
  const view = (name: Contender) => bench.h2load(pacedPages(`${originOf(name)}/`, pageRate, long), long);
  const under = async (name: Contender, flooding: string[]) => {
    const views = pause(LEAD_SECONDS * 1000).then(() => view(name));
    const [found] = await Promise.all([views, bench.testbed.exec("load", ...flooding)]);
    return found;
  };
  const idle =
    (name: Contender): Plan["run"] =>
    () =>
      view(name);
  const limit =
    (name: Contender): Plan["run"] =>
    () =>
      under(name, pacedEnvelopes(tunnelOf(name), floodRate, lasts));
  const beyond =
    (name: Contender): Plan["run"] =>
    () =>
      under(name, wrk("envelope", tunnelOf(name), connections, lasts));

  const proxy = ["proxy-rate-limited", "web"];
  const app = ["tunnel-route"];
  const samples = await bench.compare({
    "proxy, no flood": { charged: proxy, run: idle("proxy-rate-limited") },
    "proxy, at the limit": { charged: proxy, run: limit("proxy-rate-limited") },
    "proxy, beyond": { charged: proxy, run: beyond("proxy-rate-limited") },
    "tunnelRoute, no flood": { charged: app, run: idle("tunnel-route") },
    "tunnelRoute, same flood": { charged: app, run: limit("tunnel-route") },
    "tunnelRoute, beyond": { charged: app, run: beyond("tunnel-route") },
  });
  const [calm, appCalm] = [samples["proxy, no flood"], samples["tunnelRoute, no flood"]];
  return {
    title: "Pages under a flood of envelopes",
    how:
      `\`/\` at ${pageRate} requests a second. At the limit: ${floodRate} envelopes a second, this proxy's TUNNEL_RATE_PER_CLIENT. Beyond: as many as ` +
      `${connections} connections can send. Proxy and web share one core, tunnelRoute has one. The CPU figures include the flood's.`,
    samples,
    claims: [
      claim("proxy: p50 at the limit / no flood", samples["proxy, at the limit"], calm, "p50", GOAL),
      claim("proxy: p99 at the limit / no flood", samples["proxy, at the limit"], calm, "p99", GOAL),
      claim("proxy: p50 beyond the limit / no flood", samples["proxy, beyond"], calm, "p50"),
      claim("proxy: p99 beyond the limit / no flood", samples["proxy, beyond"], calm, "p99"),
      claim("tunnelRoute: p50 in the same flood / no flood", samples["tunnelRoute, same flood"], appCalm, "p50"),
      claim("tunnelRoute: p99 in the same flood / no flood", samples["tunnelRoute, same flood"], appCalm, "p99"),
      claim("tunnelRoute: p50 beyond / no flood", samples["tunnelRoute, beyond"], appCalm, "p50"),
      claim("tunnelRoute: p99 beyond / no flood", samples["tunnelRoute, beyond"], appCalm, "p99"),
    ],
  };
}
