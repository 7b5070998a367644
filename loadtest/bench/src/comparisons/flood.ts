import { setTimeout as pause } from "node:timers/promises";
import { type Bench, claim } from "../bench.ts";
import { type Contender, originOf, tunnelOf } from "../contenders.ts";
import { pacedEnvelopes, pacedPages, wrk } from "../load.ts";
import type { Plan } from "../measure.ts";
import type { Comparison } from "../report.ts";

const LEAD_SECONDS = 1;
const GOAL = { atMost: 1.25 };

/** What readers notice of a flood of reports: page views at a steady rate, alone and under floods of two sizes. */
export async function flood(bench: Bench): Promise<Comparison> {
  const { pageRate, floodRate, seconds, connections } = bench.knobs;
  const long = seconds * 2;
  const lasts = long + LEAD_SECONDS + 1;
  const view = (name: Contender) => bench.h2load(pacedPages(`${originOf(name)}/`, pageRate, long), long);
  const under = async (name: Contender, flooding: string[]) => {
    const views = pause(LEAD_SECONDS * 1000).then(() => view(name));
    const [found] = await Promise.all([views, bench.stage.exec("load", ...flooding)]);
    return found;
  };
  const quiet =
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

  const edge = ["edge-limited", "web"];
  const app = ["tunnel-route"];
  const samples = await bench.compare({
    "edge, quiet": { charged: edge, run: quiet("edge-limited") },
    "edge, at the limit": { charged: edge, run: limit("edge-limited") },
    "edge, beyond": { charged: edge, run: beyond("edge-limited") },
    "tunnelRoute, quiet": { charged: app, run: quiet("tunnel-route") },
    "tunnelRoute, same flood": { charged: app, run: limit("tunnel-route") },
    "tunnelRoute, beyond": { charged: app, run: beyond("tunnel-route") },
  });
  const [calm, appCalm] = [samples["edge, quiet"], samples["tunnelRoute, quiet"]];
  return {
    title: "Pages under a flood of reports",
    how:
      `\`/\` at ${pageRate} views a second. The limit: ${floodRate} reports a second, TUNNEL_RATE_TOTAL of this edge. Beyond: all that ` +
      `${connections} connections give. Edge and web share one core, tunnelRoute has one. The CPU figures include the flood's.`,
    samples,
    claims: [
      claim("edge: p50 at the limit / quiet", samples["edge, at the limit"], calm, "p50", GOAL),
      claim("edge: p99 at the limit / quiet", samples["edge, at the limit"], calm, "p99", GOAL),
      claim("edge: p50 beyond the limit / quiet", samples["edge, beyond"], calm, "p50"),
      claim("edge: p99 beyond the limit / quiet", samples["edge, beyond"], calm, "p99"),
      claim("tunnelRoute: p50 in the same flood / quiet", samples["tunnelRoute, same flood"], appCalm, "p50"),
      claim("tunnelRoute: p99 in the same flood / quiet", samples["tunnelRoute, same flood"], appCalm, "p99"),
      claim("tunnelRoute: p50 beyond / quiet", samples["tunnelRoute, beyond"], appCalm, "p50"),
      claim("tunnelRoute: p99 beyond / quiet", samples["tunnelRoute, beyond"], appCalm, "p99"),
    ],
  };
}
