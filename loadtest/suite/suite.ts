import exec from "k6/execution";
import { JOURNEYS, journey, journeysFor, shareOfJourney } from "../journeys/index.ts";
import { type Client, Unavailable } from "../lib/client.ts";
import { isLocalIngest, OptionError, readOptions } from "../lib/options.ts";
import { pageTrace } from "../lib/page-trace.ts";
import { randomHex } from "../lib/random.ts";
import { readBaseline } from "./baseline.ts";
import { deliveryExamples, readDelivery, readerProblem } from "./delivery.ts";
import { k6Client, passExample, probe, probeSeconds, type SetupData } from "./k6-client.ts";
import { readLimits } from "./limits.ts";
import { rates, samples } from "./metrics.ts";
import { targetProblem } from "./preflight.ts";
import type { ProfileName } from "./profiles.ts";
import { journeyOf, plannedIterations, scenarios, shape } from "./scenarios.ts";
import { type RunData, summarise } from "./summary.ts";
import { summaryFiles } from "./summary-files.ts";
import { type Plan, thresholds } from "./thresholds.ts";

/** Everything that k6 requires of an entry script, for one load profile. An invalid option stops the run with one line. */
export function suite(profile: ProfileName) {
  try {
    const options = readOptions(__ENV);
    // The response is the same whether the ingest or the spool accepted an envelope, so a missing outage would go unnoticed.
    if (profile === "outage" && options.outage === undefined)
      throw new OptionError(
        "OUTAGE is not set: start run.sh, or stop and start the ingest yourself and set OUTAGE=manual",
      );
    journeysFor(options);
    const limits = readLimits(profile, options);
    return script({ profile, options, limits, baseline: readBaseline(profile, options.baseline, limits) });
  } catch (error) {
    if (error instanceof OptionError) return abortInSetup(error.message);
    throw error;
  }
}

function script(plan: Plan) {
  const { profile, options } = plan;
  const plateau = profile === "outage" ? shape(profile, options).plateau : undefined;
  let client: Client | undefined;

  return {
    /** k6's own options. */
    options: {
      scenarios: scenarios(profile, options),
      thresholds: thresholds(plan),
      tags: { profile },
      userAgent: "culvert-loadtest",
      setupTimeout: `${probeSeconds(options, options.pages.length)}s`,
      teardownTimeout: `${options.deliveryWait + 60}s`,
      summaryTrendStats: ["count", "med", "p(95)", "p(99)", "max"],
    },

    async setup(): Promise<SetupData> {
      const refusal = storageRefusal(plan) || (options.ingest && (await readerProblem(options)));
      if (refusal) exec.test.abort(refusal);
      const probed: SetupData["probed"] = {};
      for (const path of options.pages) {
        const page = await probe(options, { path, kind: "page" });
        const problem = targetProblem(options, path, page);
        if (problem) exec.test.abort(problem);
        probed[path] = { traceId: pageTrace(page.body).trace?.traceId ?? "", length: page.body.length };
      }
      return { probed, run: randomHex(8) };
    },

    async iteration(data: SetupData): Promise<void> {
      client ??= k6Client(options, data, plateau);
      const name = journeyOf(exec.scenario.name, exec.scenario.iterationInTest, options);
      exec.vu.metrics.tags.journey = name;
      if (plateau !== undefined) exec.vu.metrics.tags.phase = client.phase() ?? "";
      let exception = "";
      try {
        await JOURNEYS[name].run(client);
      } catch (error) {
        // A request without an answer ends its journey, and is counted by the availability.
        if (!(error instanceof Unavailable)) exception = String(error);
      }
      client.check("iteration_ok", exception === "", undefined, `${name}: ${exception}`);
    },

    /** Compares what arrived with what was sent. */
    async teardown({ run }: SetupData): Promise<void> {
      if (!options.ingest || !journeysFor(options).some((name) => journey(name).envelopes)) return;
      const delivery = await readDelivery(options, run);
      const { sent, missing, altered } = delivery;
      for (const [id, failed, all] of [
        ["delivered", missing.length, sent],
        ["unaltered", altered.length, sent - missing.length],
      ] as const) {
        for (let at = 0; at < all; at++) rates[id].add(at >= failed);
        if (all > 0) samples.add(all, { of: id });
      }
      for (const { check, at, traceId, text } of deliveryExamples(delivery)) passExample(check, at, traceId, text);
    },

    handleSummary: (data: RunData) => {
      const { RUN_COMMIT: commit = "unknown", RUN_K6: k6 = "unknown" } = __ENV;
      return summaryFiles(summarise(plan, { time: new Date().toISOString(), commit, k6 }, data), options.out);
    },
  };
}

/** Why a run must not store events in a project for good without being told to, in one line; empty if it may. */
function storageRefusal({ profile, options }: Plan): string {
  const names = journeysFor(options);
  const total = names.reduce((sum, name) => sum + shareOfJourney(name, options), 0);
  const perIteration = names.reduce(
    (sum, name) => sum + ((journey(name).envelopes ?? 0) * shareOfJourney(name, options)) / total,
    0,
  );
  if (perIteration === 0 || options.sendEvents || isLocalIngest(options.dsn)) return "";
  const events = Math.ceil(plannedIterations(profile, options) * perIteration);
  const { host, project } = options.dsn;
  return `this run stores about ${events} events in project ${project} at ${host}: set SEND_EVENTS=yes, or TUNNEL_PATH=off`;
}

/** A script that only stops the run: k6 prints an abort in `setup` as one line, an exception while loading with its stack. */
function abortInSetup(problem: string): ReturnType<typeof script> {
  const empty = {
    options: {},
    setup: () => exec.test.abort(problem),
    iteration: async () => {},
    teardown: async () => {},
    handleSummary: () => ({}),
  };
  return empty as unknown as ReturnType<typeof script>;
}
