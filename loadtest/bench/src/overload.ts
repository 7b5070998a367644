import { originOf, runWrk, startAll } from "./contenders.ts";
import { GOOD_MS, openLoop, parseOpenLoop } from "./load.ts";
import type { Options } from "./options.ts";
import type { Comparison } from "./results.ts";
import { inTurn, median } from "./statistics.ts";
import { type Testbed, withTestbed } from "./testbed.ts";

const CONNECTIONS = 8;
/** Open before a run, as those of visitors who reload a page: a handshake takes much of the proxy. */
const OPEN_CONNECTIONS = 256;
const LIKE_A_BROWSER = "Accept-Encoding: gzip, deflate, br, zstd";
const address = (name: string) => `${originOf(name)}/`;

/** Front pages requested at up to three times the rate that one core can render. */
export async function overload({ rounds, seconds }: Options): Promise<Comparison> {
  const long = seconds * 2;
  const wrk = (testbed: Testbed, time: number) =>
    runWrk(testbed, "results", address("proxy"), CONNECTIONS, time, LIKE_A_BROWSER);
  const capacity = async (testbed: Testbed) => {
    const load = await wrk(testbed, seconds);
    return load.requests / load.seconds;
  };
  /** The processor's speed and other work change the capacity: measured anew before and after each run. */
  const run = async (testbed: Testbed, name: string, factor: number) => {
    const before = await capacity(testbed);
    const how = openLoop({ url: address(name), rate: before * factor, seconds: long, connections: OPEN_CONNECTIONS });
    const load = parseOpenLoop(await testbed.exec("load", ...how), long);
    return { ...load, goodShare: load.goodPerSecond / ((before + (await capacity(testbed))) / 2) };
  };
  const samples = await withTestbed(async (testbed) => {
    await startAll(testbed, ["web", "proxy"], "/");
    // An app that has just started is a third slower.
    await wrk(testbed, 6 * seconds);
    const plans = [1, 2, 3].flatMap((factor) =>
      ["web", "proxy"].map((name) => [`${name}, ${factor} ×`, () => run(testbed, name, factor)] as const),
    );
    return inTurn(rounds, Object.fromEntries(plans));
  });
  const of = (name: string, key: "goodShare" | "p95") => median((samples[name] ?? []).map((sample) => sample[key]));
  return {
    title: "More pages requested than one core can render",
    how: `Good: a page within ${GOOD_MS / 1000} s, as a share of the rate that the proxy and \`web\` on one core render. ${long} s, ${rounds} rounds.`,
    head: ["", "good pages", "p95 ms"],
    rows: Object.keys(samples).map((name) => [name, of(name, "goodShare"), of(name, "p95")]),
  };
}
