import exec from "k6/execution";
import { browser } from "../journeys/browser.ts";
import { JOURNEYS } from "../journeys/index.ts";
import type { CheckId } from "../lib/checks.ts";
import { type Client, newClient, recordCheck, recordDelivery, recordStop, type SetupData } from "../lib/client.ts";
import { ask, type Delivery, ReaderError, readDelivery } from "../lib/delivery.ts";
import { readFailures, sayFailure } from "../lib/failures.ts";
import { OptionError, type Options } from "../lib/options.ts";
import { randomHex } from "../lib/random.ts";
import { Unavailable } from "../lib/request.ts";
import { readPlan } from "./plan.ts";
import { notRunFiles, summaryFiles } from "./report.ts";
import { journeyOf, roundOf, scenarios } from "./scenarios.ts";
import { type RunData, stopOf, summarise } from "./summary.ts";
import { probeTarget } from "./target.ts";
import { thresholds } from "./thresholds.ts";

/** What k6 requires of an entry script, for one load profile. Throws an OptionError. */
export function suite(profile: string) {
  if (!__ENV.BASE_URL) throw new OptionError("BASE_URL is not set: give the origin of the target");
  const plan = readPlan(profile, __ENV);
  const { options } = plan;
  let client: Client | undefined;
  return {
    options: {
      scenarios: scenarios(plan),
      thresholds: thresholds(plan),
      tags: { profile: plan.name },
      userAgent: "culvert-loadtest",
      setupTimeout: `${30 + 3 * options.timeout * (options.pages.length + 4)}s`,
      teardownTimeout: `${options.deliveryWait + 90}s`,
      summaryTrendStats: ["count", "med", "p(95)", "p(99)", "max"],
    },

    async setup(): Promise<SetupData> {
      const run = randomHex(8);
      try {
        if (options.ingest) await ask(options.ingest, "/healthz", 5);
        return { run, probed: await probeTarget(options, run) };
      } catch (error) {
        return { run, probed: {}, problem: (error as Error).message };
      }
    },

    async iteration(data: SetupData): Promise<void> {
      if (data.problem) exec.test.abort(data.problem);
      client ??= newClient(options, data);
      const at = exec.scenario.iterationInTest;
      const name = journeyOf(plan, at);
      const isLoad = plan.profile.stages.length > 0;
      Object.assign(client, { visit: at, round: roundOf(plan, at), isLoad, hasConnection: false });
      exec.vu.metrics.tags.journey = name;
      let exception = "";
      try {
        await JOURNEYS[name].run(client);
      } catch (error) {
        // A failure of our own tools is no fault of the target.
        if (error instanceof ReaderError) {
          recordStop();
          exec.test.abort(error.message);
        }
        // A request without an answer ends its journey, and is counted by the availability.
        if (!(error instanceof Unavailable)) exception = String(error);
      }
      client.check("iteration_ok", exception === "", undefined, `${name}: ${exception}`);
      await client.allSaid();
    },

    browser: async (data: SetupData): Promise<void> => {
      if (!data.problem) await browser(options, data);
    },

    async teardown({ run, problem }: SetupData): Promise<void> {
      if (!options.ingest || problem) return;
      exec.vu.metrics.tags.journey = "delivery";
      const delivery = await readDelivery(options, run).catch((error) => {
        recordStop();
        throw error;
      });
      await recordFindings(options, run, delivery);
    },

    handleSummary: async (data: RunData): Promise<Record<string, string>> => {
      const problem = stopOf(data, options);
      if (problem) return notRunFiles(plan.name, problem, options.out);
      const { RUN_COMMIT: commit = "unknown", RUN_K6: k6 = "unknown" } = __ENV;
      const run = { time: new Date().toISOString(), commit, k6 };
      const failures = await readFailures(options.reader, data.setup_data?.run ?? "");
      return summaryFiles(summarise(plan, run, data, failures), options.out);
    },
  };
}

async function recordFindings({ reader }: Options, run: string, delivery: Delivery): Promise<void> {
  const { source, sent, missing, altered, repeated, late, actions, ranTwice } = delivery;
  const arrived = sent - missing.length;
  const results: [CheckId, number, Delivery["missing"]][] = [
    ["delivered", sent, missing],
    ["unaltered", arrived, altered],
    ["delivered_once", arrived, repeated],
    ["action_once", actions, ranTwice],
  ];
  for (const [id, count, bad] of results) {
    for (let at = 0; at < count; at++) recordCheck(id, at >= bad.length);
    for (const { id: event, traceId, how } of bad.slice(0, 3)) {
      const text = `${how}; ${bad.length} of ${count} (read from ${source})`;
      await sayFailure(reader, run, { check: id, at: `event ${event}`, traceId, text });
    }
  }
  for (const milliseconds of late) recordDelivery(milliseconds);
}
