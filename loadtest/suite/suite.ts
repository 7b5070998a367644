import exec from "k6/execution";
import { browser } from "../journeys/browser.ts";
import { JOURNEYS } from "../journeys/index.ts";
import type { CheckId } from "../lib/checks.ts";
import { type Client, newClient, passExample, recordCheck, recordDelivery, type SetupData } from "../lib/client.ts";
import { type Delivery, readDelivery, readerProblem } from "../lib/delivery.ts";
import { OptionError } from "../lib/options.ts";
import { randomHex } from "../lib/random.ts";
import { Unavailable } from "../lib/request.ts";
import { type Plan, readPlan } from "./plan.ts";
import { notRun, summaryFiles } from "./report.ts";
import { journeyOf, scenarios } from "./scenarios.ts";
import { type RunData, summarise } from "./summary.ts";
import { probeTarget } from "./target.ts";
import { thresholds } from "./thresholds.ts";

type Script = ReturnType<typeof script>;

/** Everything that k6 requires of an entry script, for one load profile. An invalid option stops the run with one line. */
export function suite(profile: string): Script {
  try {
    return script(readPlan(profile, __ENV));
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    // k6 prints an exception while loading with its stack.
    const { message: problem } = error;
    const iteration = async () => exec.test.abort(problem);
    const setup = () => ({ probed: {}, run: "", problem });
    const empty = { options: {}, setup, iteration, browser: iteration, teardown: () => {} };
    return { ...empty, handleSummary: () => notRun(__ENV, problem) } as unknown as Script;
  }
}

function script(plan: Plan) {
  const { options } = plan;
  let client: Client | undefined;
  return {
    /** k6's own options. */
    options: {
      scenarios: scenarios(plan),
      thresholds: thresholds(plan),
      tags: { profile: plan.name },
      userAgent: "culvert-loadtest",
      setupTimeout: `${30 + 3 * options.timeout * (options.pages.length + 4)}s`,
      teardownTimeout: `${options.deliveryWait + 90}s`,
      summaryTrendStats: ["count", "med", "p(95)", "p(99)", "max"],
    },

    /** Returns a problem instead of aborting, because only then `handleSummary` gets to know it. */
    async setup(): Promise<SetupData> {
      const unread = options.ingest && (await readerProblem(options));
      return { run: randomHex(8), ...(unread ? { probed: {}, problem: unread } : await probeTarget(options)) };
    },

    async iteration(data: SetupData): Promise<void> {
      if (data.problem) exec.test.abort(data.problem);
      client ??= newClient(options, data);
      const name = journeyOf(plan, exec.scenario.iterationInTest);
      exec.vu.metrics.tags.journey = name;
      let exception = "";
      try {
        await JOURNEYS[name].run(client);
      } catch (error) {
        // A request without an answer ends its journey, and is counted by the availability.
        if (!(error instanceof Unavailable)) exception = String(error);
      }
      client.check("iteration_ok", exception === "", undefined, `${name}: ${exception}`);
    },

    /** A scenario of its own, once. */
    browser: (): Promise<void> => browser(options),

    /** Compares what arrived with what was sent. */
    async teardown({ run, problem }: SetupData): Promise<void> {
      if (options.ingest && !problem) recordFindings(await readDelivery(options, run));
    },

    handleSummary: (data: RunData) => {
      if (data.setup_data?.problem) return notRun(__ENV, data.setup_data.problem);
      const { RUN_COMMIT: commit = "unknown", RUN_K6: k6 = "unknown" } = __ENV;
      return summaryFiles(summarise(plan, { time: new Date().toISOString(), commit, k6 }, data), options.out);
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
