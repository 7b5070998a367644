import { type Bench, claim } from "../bench.ts";
import { type Contender, originOf } from "../contenders.ts";
import { pacedPages, type Script } from "../load.ts";
import type { Comparison } from "../report.ts";
import { spread } from "../statistics.ts";

const CONNECTIONS = 8;

/** The app's first page, rendered for each request: as many as it can, and at a steady rate. */
export async function pages(bench: Bench): Promise<Comparison> {
  const { pageRate, seconds } = bench.knobs;
  const long = seconds * 2;
  const address = (name: Contender) => `${originOf(name)}/`;
  const full = (charged: string[], name: Contender, script: Script = "browser") => ({
    charged,
    run: () => bench.wrk(script, address(name), CONNECTIONS),
  });
  const paced = (charged: string[], name: Contender) => ({
    charged,
    run: () => bench.h2load(pacedPages(address(name), pageRate, long), long),
  });
  const samples = await bench.compare({
    direct: full(["web"], "web"),
    edge: full(["edge", "web"], "edge"),
    "edge-apart": full(["web"], "edge-apart"),
    "direct, uncompressed": full(["web"], "web", "plain"),
    "edge, uncompressed": full(["edge", "web"], "edge", "plain"),
    "direct, paced": paced(["web"], "web"),
    "edge, paced": paced(["edge", "web"], "edge"),
  });
  const { direct, edge } = samples;
  const [plainDirect, plainEdge] = [samples["direct, uncompressed"], samples["edge, uncompressed"]];
  return {
    title: "A page rendered for each request",
    how:
      `\`/\` as a browser asks for it (compressed, by web itself or by the edge), ${CONNECTIONS} connections; paced: ${pageRate} views a second. ` +
      "One view in ten is traced. Direct is plain HTTP to `web`; the ratio includes the edge's TLS, compression, headers and log, " +
      "for which web gives up a part of its core, except to edge-apart, which sits on the load's.",
    samples,
    claims: [
      claim("edge / direct, pages per second", edge, direct, "perSecond", { atLeast: 0.97 }),
      claim("edge / direct, pages per CPU second", edge, direct, "perCore", { atLeast: 0.97 }),
      {
        text: "web's share of the CPU for a page through the edge",
        ratio: spread(edge.map((sample) => sample.lastShare)),
        goal: { atLeast: 0.97 },
      },
      claim("edge-apart / direct, pages per second", samples["edge-apart"], direct, "perSecond", { atLeast: 0.97 }),
      claim("edge / direct, uncompressed, pages per CPU second", plainEdge, plainDirect, "perCore", { atLeast: 0.97 }),
      claim("edge / direct, p50", samples["edge, paced"], samples["direct, paced"], "p50", { atMost: 1.05 }),
    ],
  };
}
