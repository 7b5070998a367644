import exec from "k6/execution";
import { browser } from "../journeys/browser.ts";
import { JOURNEYS } from "../journeys/index.ts";
import type { CheckId } from "../lib/checks.ts";
import { type Client, newClient, passExample, recordCheck, recordDelivery, type SetupData } from "../lib/client.ts";
import { checkReader, type Delivery, ReaderError, readDelivery } from "../lib/delivery.ts";
import { randomHex } from "../lib/random.ts";
import { Unavailable } from "../lib/request.ts";
import { readPlan } from "./plan.ts";
import { summaryFiles } from "./report.ts";
import { journeyOf, roundOf, scenarios } from "./scenarios.ts";
import { type RunData, summarise } from "./summary.ts";
import { probeTarget } from "./target.ts";
import { thresholds } from "./thresholds.ts";

/** Everything that k6 requires of an entry script, for one load profile. What it throws is the reason for which run.sh has no result. */
export function suite(profile: string) {
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
      if (options.ingest) await checkReader(options);
      return { run: randomHex(8), probed: await probeTarget(options) };
    },

    async iteration(data: SetupData): Promise<void> {
      client ??= newClient(options, data);
      const at = exec.scenario.iterationInTest;
      const name = journeyOf(plan, at);
      Object.assign(client, { visit: at, round: roundOf(plan, at) });
      exec.vu.metrics.tags.journey = name;
      let exception = "";
      try {
        await JOURNEYS[name].run(client);
      } catch (error) {
        // A failure of our own tools is no fault of the target.
        if (error instanceof ReaderError) exec.test.abort(error.message);
        // A request without an answer ends its journey, and is counted by the availability.
        if (!(error instanceof Unavailable)) exception = String(error);
      }
      client.check("iteration_ok", exception === "", undefined, `${name}: ${exception}`);
    },

    browser: (): Promise<void> => browser(options),

    async teardown({ run }: SetupData): Promise<void> {
      if (options.ingest) recordFindings(await readDelivery(options, run));
    },

    /** Writes nothing if `setup` failed. */
    handleSummary: (data: RunData): Record<string, string> => {
      const { RUN_COMMIT: commit = "unknown", RUN_K6: k6 = "unknown" } = __ENV;
      const run = { time: new Date().toISOString(), commit, k6 };
      return data.setup_data ? summaryFiles(summarise(plan, run, data), options.out) : {};
    },
  };
}

function recordFindings({ source, sent, missing, altered, repeated, late, actions, ranTwice }: Delivery): void {
  const arrived = sent - missing.length;
  const results: [CheckId, number, Delivery["missing"]][] = [
    ["delivered", sent, missing],
    ["unaltered", arrived, altered],
    ["delivered_once", arrived, repeated],
    ["action_once", actions, ranTwice],
  ];
  for (const [id, count, bad] of results) {
    for (let at = 0; at < count; at++) recordCheck(id, at >= bad.length);
    for (const one of bad.slice(0, 3))
      passExample(id, `event ${one.id}`, one.traceId, `${one.how}; ${bad.length} of ${count} (read from ${source})`);
  }
  for (const milliseconds of late) recordDelivery(milliseconds);
}
