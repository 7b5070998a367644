import { type Bench, claim } from "../bench.ts";
import { type Contender, originOf } from "../contenders.ts";
import { pacedPages, type Script } from "../load.ts";
import type { Comparison } from "../markdown.ts";
import { spread } from "../statistics.ts";

const CONNECTIONS = 8;

/** The app's front page, rendered for each request: at full load, and at a constant rate. */
export async function pages(bench: Bench): Promise<Comparison> {
  const { pageRate, seconds } = bench.options;
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
    proxy: full(["proxy", "web"], "proxy"),
    "proxy-other-core": full(["web"], "proxy-other-core"),
    "direct, uncompressed": full(["web"], "web", "plain"),
    "proxy, uncompressed": full(["proxy", "web"], "proxy", "plain"),
    "direct, paced": paced(["web"], "web"),
    "proxy, paced": paced(["proxy", "web"], "proxy"),
  });
  const { direct, proxy } = samples;
  const [plainDirect, plainProxy] = [samples["direct, uncompressed"], samples["proxy, uncompressed"]];
  return {
    title: "A page rendered for each request",
    how:
      `\`/\` as a browser requests it (compressed by web or by the proxy), ${CONNECTIONS} connections; paced: ${pageRate} requests a second. ` +
      "One request in ten is traced. Direct is plain HTTP to `web`; the ratio includes the proxy's TLS, compression, headers and log, " +
      "which take a part of web's core, except for proxy-other-core, which runs on the load's core.",
    samples,
    claims: [
      claim("proxy / direct, pages per second", proxy, direct, "perSecond", { atLeast: 0.97 }),
      claim("proxy / direct, pages per CPU second", proxy, direct, "perCpuSecond", { atLeast: 0.97 }),
      {
        text: "web's share of the CPU for a page through the proxy",
        ratio: spread(proxy.map((sample) => sample.lastContainerShare)),
        goal: { atLeast: 0.97 },
      },
      claim("proxy-other-core / direct, pages per second", samples["proxy-other-core"], direct, "perSecond", {
        atLeast: 0.97,
      }),
      claim("proxy / direct, uncompressed, pages per CPU second", plainProxy, plainDirect, "perCpuSecond", {
        atLeast: 0.97,
      }),
      claim("proxy / direct, p50", samples["proxy, paced"], samples["direct, paced"], "p50", { atMost: 1.05 }),
    ],
  };
}
