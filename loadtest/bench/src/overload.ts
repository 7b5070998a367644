import type { Comparison, Options } from "./main.ts";
import { openLoop, start, wrk } from "./stack.ts";
import { inTurn, median } from "./statistics.ts";

/** Open before a run, as those of visitors who reload a page: a handshake takes much of the proxy. */
const OPEN_CONNECTIONS = 256;
const ORIGINS = { web: "http://web:3000/", proxy: "https://proxy:8443/" };

/** Front pages requested at up to three times the rate that one core can render. */
export async function overload({ rounds, seconds }: Options): Promise<Comparison> {
  const long = seconds * 2;
  /** The processor's speed and other work change the capacity: measured anew before and after each run. */
  const capacity = async (time = seconds) => {
    const load = await wrk(ORIGINS.proxy, 8, time, "get");
    return load.requests / load.seconds;
  };
  const run = async (url: string, factor: number) => {
    const before = await capacity();
    const load = await openLoop("load", { url, rate: before * factor, seconds: long, connections: OPEN_CONNECTIONS });
    return { ...load, goodShare: load.goodPerSecond / ((before + (await capacity())) / 2) };
  };
  await start(["sink", "load", "proxy", "web"]);
  // An app that has just started is a third slower.
  await capacity(6 * seconds);
  const plans = [1, 2, 3].flatMap((factor) =>
    Object.entries(ORIGINS).map(([name, url]) => [`${name}, ${factor} ×`, () => run(url, factor)] as const),
  );
  const samples = await inTurn(rounds, Object.fromEntries(plans));
  const of = (name: string, key: "goodShare" | "p95") => median((samples[name] ?? []).map((sample) => sample[key]));
  return {
    title: "More pages requested than one core can render",
    head: ["", "good pages", "p95 ms"],
    rows: Object.keys(samples).map((name) => [name, of(name, "goodShare"), of(name, "p95")]),
  };
}
