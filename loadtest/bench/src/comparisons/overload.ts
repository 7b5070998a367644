import type { Bench } from "../bench.ts";
import { type Contender, originOf, startShedding } from "../contenders.ts";
import { docker } from "../docker.ts";
import { GOOD_MS, type OpenLoad, openLoop, parseOpenLoop } from "../load.ts";
import { type Comparison, middle, percent, whole } from "../markdown.ts";
import { measure, type Plan } from "../measure.ts";
import { assignCores } from "../processor.ts";

const CONNECTIONS = 8;
/** Open before a run, as those of visitors who reload a page: a handshake takes as much of the proxy as 17 shed pages. */
const OPEN_CONNECTIONS = 256;
const factors = [0.5, 1, 2, 3] as const;
const contenders = { web: "web", proxy: "proxy", "proxy, shedding": "proxy-shedding" } as const;

/** What a measurement adds to the load's results: the rate, and the good answers as a share of what is possible. */
interface Overload extends OpenLoad {
  offeredPerSecond: number;
  goodShare: number;
}

/** Front pages requested at up to three times the rate that one core can render, with and without a limit of open pages. */
export async function overload(bench: Bench): Promise<Comparison> {
  const long = bench.options.seconds * 3;
  const address = (name: Contender) => `${originOf(name)}/`;
  const full = () => bench.wrk("browser", address("proxy"), CONNECTIONS);
  // An app that has just started is a third slower.
  for (let time = 0; time < 10; time++) await full();
  const { perSecond: capacity } = await measure(bench.testbed, { charged: ["proxy", "web"], run: full });
  const openPages = Math.max(1, Math.round((capacity * bench.options.openMilliseconds) / 1000));
  await startShedding(bench.testbed, assignCores(Number(await docker("info", "--format={{.NCPU}}"))), openPages);

  const pagesPerSecond = async () => {
    const { requests, seconds } = await full();
    return requests / seconds;
  };
  const run = async (name: Contender, factor: number): Promise<Overload> => {
    // The processor's speed and other work change it from one second to the next: measured anew before and after each time.
    const before = await pagesPerSecond();
    const rate = before * factor;
    const load = parseOpenLoop(
      await bench.testbed.exec("load", ...openLoop(address(name), rate, long, { connections: OPEN_CONNECTIONS })),
      long,
    );
    const possible = (before + (await pagesPerSecond())) / 2;
    return { ...load, offeredPerSecond: rate, goodShare: load.goodPerSecond / possible };
  };
  const plans: Record<string, Plan<Overload>> = {};
  for (const factor of factors) {
    for (const [label, name] of Object.entries(contenders)) {
      const charged = name === "web" ? ["web"] : [name, "web"];
      plans[`${label}, ${factor} ×`] = { charged, run: () => run(name, factor), mayFail: true };
    }
  }
  const samples = await bench.compare(plans);
  return {
    title: "More pages requested than one core can render",
    how:
      `\`/\` at 0.5, 1, 2 and 3 times the rate at which the proxy and \`web\` on one core render it (about ${Math.round(capacity)} a second, measured ` +
      `with ${CONNECTIONS} connections before and after each run), for ${long} s, whether or not earlier requests were answered. Good: a page within ${GOOD_MS / 1000} s; ` +
      `its share is of that rate. Times are those of pages, not of the 503 that shed requests get. Shedding: MAX_CONCURRENT_PAGES_PER_REPLICA=${openPages}.`,
    samples,
    columns: [
      ["offered per second", "offeredPerSecond", middle],
      ["good pages per second", "goodPerSecond", middle],
      ["of the maximum", "goodShare", percent],
      ["shed", "shedShare", percent],
      ["failed", "failedShare", percent],
      ["p50 ms", "p50", whole],
      ["p95 ms", "p95", whole],
      ["other work", "otherWorkShare", percent],
    ],
    claims: [],
    chart: ["goodShare", "good pages as a share of the maximum"],
  };
}
