import { setTimeout as pause } from "node:timers/promises";
import { type Bench, claim } from "../bench.ts";
import { type Contender, originOf, tunnelOf } from "../contenders.ts";
import { pacedEnvelopes, pacedPages, wrk } from "../load.ts";
import type { Comparison } from "../report.ts";

const LEAD_SECONDS = 1;

/** What readers notice of a flood of reports: pages at a steady rate, alone, under a steady flood, and under all that 32 connections give. */
export async function flood(bench: Bench): Promise<Comparison> {
  const { pageRate, floodRate, seconds, connections } = bench.knobs;
  const long = seconds * 2;
  const plan = (name: Contender, charged: string[], flooding?: string[]) => ({
    charged,
    run: async () => {
      const running = flooding && bench.stage.exec("load", ...flooding);
      if (running) await pause(LEAD_SECONDS * 1000);
      const found = await bench.h2load(pacedPages(`${originOf(name)}/`, pageRate, long), long);
      await running;
      return found;
    },
  });
  const floods = (name: Contender) => ({
    steady: pacedEnvelopes(tunnelOf(name), floodRate, long + LEAD_SECONDS + 1),
    full: wrk("envelope", tunnelOf(name), connections, long + LEAD_SECONDS + 1),
  });
  const both = { "edge-limited": ["edge-limited", "web"], "tunnel-route": ["tunnel-route"] };
  const plans = Object.entries(both).flatMap(([name, charged]) => {
    const { steady, full } = floods(name as Contender);
    return [
      [`${name}, quiet`, plan(name as Contender, charged)],
      [`${name}, ${floodRate}/s`, plan(name as Contender, charged, steady)],
      [`${name}, full`, plan(name as Contender, charged, full)],
    ] as const;
  });
  const samples = await bench.compare(Object.fromEntries(plans));
  const claims = Object.keys(both).flatMap((name) =>
    [`${floodRate}/s`, "full"].flatMap((kind) =>
      (["p50", "p99"] as const).map((time) => {
        const goal = name === "edge-limited" && { atMost: 1.25 };
        const [of = [], by = []] = [samples[`${name}, ${kind}`], samples[`${name}, quiet`]];
        return claim(`${name}: page ${time}, flood ${kind} / quiet`, of, by, time, goal || undefined);
      }),
    ),
  );
  return {
    title: "Pages under a flood of reports",
    how:
      `\`/\` at ${pageRate} views a second while reports come in at ${floodRate}/s, or as fast as ${connections} connections give. ` +
      "Edge and web share one core; tunnelRoute has one core as well. CPU figures include the flood's.",
    samples,
    claims,
  };
}
