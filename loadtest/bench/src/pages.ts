import { originOf, runWrk, startAll } from "./contenders.ts";
import { GOOD_MS, openLoop, parseOpenLoop } from "./load.ts";
import { measure } from "./measure.ts";
import type { Options } from "./options.ts";
import type { Comparison } from "./results.ts";
import { inTurn, median, ratio } from "./statistics.ts";
import { type Testbed, withTestbed } from "./testbed.ts";

const CONNECTIONS = 8;
/** Open before a run, as those of visitors who reload a page: a handshake takes much of the proxy. */
const OPEN_CONNECTIONS = 256;
const address = (name: string) => `${originOf(name)}/`;
const charge = (name: string) => (name === "web" ? ["web"] : [name, "web"]);

/** Runs with `web` and the proxy. An app that has just started is a third slower, so it first renders for some seconds. */
const withPages = <Result>(run: (testbed: Testbed) => Promise<Result>) =>
  withTestbed(async (testbed) => {
    await startAll(testbed, ["web", "proxy"], "/");
    await runWrk(testbed, "browser", address("proxy"), CONNECTIONS, 20);
    return run(testbed);
  });

/** The app's front page, rendered for each request as fast as possible, with and without the proxy. */
export async function pages({ rounds, seconds }: Options): Promise<Comparison> {
  const { web, proxy } = await withPages((testbed) => {
    const contender = (name: string) => () =>
      measure(testbed, {
        charged: charge(name),
        run: () => runWrk(testbed, "browser", address(name), CONNECTIONS, seconds),
      });
    return inTurn(rounds, { web: contender("web"), proxy: contender("proxy") });
  });
  const row = (name: string, samples: typeof web): Comparison["rows"][number] => [
    name,
    ...(["perCpuSecond", "p50", "p99"] as const).map((key) => median(samples.map((sample) => sample[key]))),
    ratio(
      samples.map(({ perCpuSecond }) => perCpuSecond),
      web.map(({ perCpuSecond }) => perCpuSecond),
    ),
  ];
  return {
    title: "A page rendered for each request",
    how:
      `\`/\` as a browser requests it, compressed, ${CONNECTIONS} connections. \`web\` alone is plain HTTP; the proxy shares web's core. ` +
      `Medians of ${rounds} rounds in turn, ${seconds} s each.`,
    head: ["", "per CPU second", "p50 ms", "p99 ms", "of web alone"],
    rows: [row("web alone", web), row("proxy and web", proxy)],
    chart: 1,
  };
}

/** Front pages requested at up to three times the rate that one core can render. */
export async function overload({ rounds, seconds }: Options): Promise<Comparison> {
  const long = seconds * 2;
  const capacity = async (testbed: Testbed) => {
    const load = await runWrk(testbed, "browser", address("proxy"), CONNECTIONS, seconds);
    return load.requests / load.seconds;
  };
  /** The processor's speed and other work change the capacity: measured anew before and after each run. */
  const run = async (testbed: Testbed, name: string, factor: number) => {
    const before = await capacity(testbed);
    const how = openLoop({ url: address(name), rate: before * factor, seconds: long, connections: OPEN_CONNECTIONS });
    const load = parseOpenLoop(await testbed.exec("load", ...how), long);
    return { ...load, goodShare: load.goodPerSecond / ((before + (await capacity(testbed))) / 2) };
  };
  const contenders = { "web alone": "web", proxy: "proxy" };
  const samples = await withPages((testbed) => {
    const plans = [1, 2, 3].flatMap((factor) =>
      Object.entries(contenders).map(
        ([label, one]) => [`${label}, ${factor} ×`, () => run(testbed, one, factor)] as const,
      ),
    );
    return inTurn(rounds, Object.fromEntries(plans));
  });
  const rows = Object.entries(samples).map(([name, list]): Comparison["rows"][number] => [
    name,
    ...(["goodShare", "p50", "p95"] as const).map((key) => median(list.map((sample) => sample[key]))),
    median(list.map(({ failed, requests }) => failed / requests)),
  ]);
  return {
    title: "More pages requested than one core can render",
    how:
      `\`/\` at 1, 2 and 3 times the rate at which the proxy and \`web\` on one core render it, for ${long} s, whether or not earlier requests ` +
      `were answered. Good: a page within ${GOOD_MS / 1000} s, as a share of that rate. Medians of ${rounds} rounds.`,
    head: ["", "good pages", "p50 ms", "p95 ms", "failed"],
    rows,
    chart: 1,
  };
}
