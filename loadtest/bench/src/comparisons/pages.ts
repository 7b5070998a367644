import { type Bench, claim } from "../bench.ts";
import { type Contender, originOf } from "../contenders.ts";
import { pacedPages } from "../load.ts";
import type { Comparison } from "../report.ts";

const CONNECTIONS = 8;

/** The app's first page, rendered for each request: as many as it can, and at a steady rate. */
export async function pages(bench: Bench): Promise<Comparison> {
  const { pageRate, seconds } = bench.knobs;
  const long = seconds * 2;
  const full = (charged: string[], name: Contender) => ({
    charged,
    run: () => bench.wrk("page", `${originOf(name)}/`, CONNECTIONS),
  });
  const paced = (charged: string[], name: Contender) => ({
    charged,
    run: () => bench.h2load(pacedPages(`${originOf(name)}/`, pageRate, long), long),
  });
  const samples = await bench.compare({
    "direct, full": full(["web"], "web"),
    "edge, full": full(["web", "edge"], "edge"),
    "edge on the load's core, full": full(["web"], "edge-apart"),
    [`direct, ${pageRate}/s`]: paced(["web"], "web"),
    [`edge, ${pageRate}/s`]: paced(["web", "edge"], "edge"),
  });
  const of = (name: string) => samples[name] ?? [];
  return {
    title: "A page rendered for each request",
    how:
      `\`/\`, uncompressed, traces recorded for every view. Full: ${CONNECTIONS} connections. Direct is plain HTTP to \`web\`; the edge adds TLS, ` +
      "its headers and its log, and web has to share its core with it, except where it is on the load's core.",
    samples,
    claims: [
      claim("edge / direct, pages per second, on one core", of("edge, full"), of("direct, full"), "perSecond", {
        atLeast: 0.97,
      }),
      claim("edge / direct, pages per second of CPU, on one core", of("edge, full"), of("direct, full"), "perCore", {
        atLeast: 0.97,
      }),
      claim(
        "edge / direct, pages per second, edge on another core",
        of("edge on the load's core, full"),
        of("direct, full"),
        "perSecond",
        { atLeast: 0.97 },
      ),
      claim(`edge / direct, p50 at ${pageRate}/s`, of(`edge, ${pageRate}/s`), of(`direct, ${pageRate}/s`), "p50", {
        atMost: 1.05,
      }),
    ],
  };
}
