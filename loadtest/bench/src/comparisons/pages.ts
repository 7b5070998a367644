import { type Bench, claim } from "../bench.ts";
import { type Contender, originOf } from "../contenders.ts";
import { pacedPages } from "../load.ts";
import { type Comparison, throughput } from "../markdown.ts";

const CONNECTIONS = 8;

/** The app's front page, rendered for each request: at full load, and at a constant rate. */
export async function pages(bench: Bench): Promise<Comparison> {
  const { pageRate, seconds } = bench.options;
  const long = seconds * 2;
  const address = (name: Contender) => `${originOf(name)}/`;
  const full = (name: Contender, ...charged: string[]) => ({
    charged,
    run: () => bench.wrk("browser", address(name), CONNECTIONS),
  });
  const paced = (name: Contender, ...charged: string[]) => ({
    charged,
    run: () => bench.h2load(pacedPages(address(name), pageRate, long), long),
  });
  const samples = await bench.compare({
    direct: full("web", "web"),
    proxy: full("proxy", "proxy", "web"),
    "direct, paced": paced("web", "web"),
    "proxy, paced": paced("proxy", "proxy", "web"),
  });
  return {
    title: "A page rendered for each request",
    how:
      `\`/\` as a browser requests it, compressed, ${CONNECTIONS} connections; paced: ${pageRate} requests a second. Direct is plain HTTP to ` +
      "`web`. The ratio includes the proxy's TLS, compression, headers and log, on web's core.",
    samples,
    columns: throughput,
    chart: ["perCpuSecond", "pages per second of processor time"],
    claims: [
      claim("proxy / direct, pages per CPU second", samples.proxy, samples.direct, "perCpuSecond"),
      claim("proxy / direct, p50", samples["proxy, paced"], samples["direct, paced"], "p50"),
    ],
  };
}
