import exec from "k6/execution";
import { JOURNEYS, journey, journeysFor } from "../journeys/index.ts";
import { type Client, newClient, passExample, probe, recordCheck, type SetupData } from "../lib/client.ts";
import { readDelivery, readerProblem } from "../lib/delivery.ts";
import { navigationHeaders, navigationPath } from "../lib/navigation.ts";
import { isLocalIngest, OptionError, type Options } from "../lib/options.ts";
import { randomHex } from "../lib/random.ts";
import { Unavailable } from "../lib/request.ts";
import { pageTrace } from "../lib/trace.ts";
import { type Plan, readPlan } from "./plan.ts";
import { targetProblem } from "./preflight.ts";
import { summaryFiles } from "./report.ts";
import { journeyOf, plannedIterations, scenarios } from "./scenarios.ts";
import { type RunData, summarise } from "./summary.ts";
import { thresholds } from "./thresholds.ts";

/** Everything that k6 requires of an entry script, for one load profile. An invalid option stops the run with one line. */
export function suite(profile: string) {
  try {
    return script(readPlan(profile, __ENV));
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    // k6 prints an abort in `setup` as one line, an exception while loading with its stack.
    const setup = () => exec.test.abort(error.message);
    const empty = { options: {}, setup, iteration: () => {}, teardown: () => {}, handleSummary: () => ({}) };
    return empty as unknown as ReturnType<typeof script>;
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
      setupTimeout: `${30 + 3 * options.timeout * options.pages.length}s`,
      teardownTimeout: `${options.deliveryWait + 90}s`,
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
        const hash = options.navigation ? await navigationHash(options, path) : "";
        probed[path] = { traceId: pageTrace(page.body).trace?.traceId ?? "", length: page.body.length, hash };
      }
      return { probed, run: randomHex(8) };
    },

    async iteration(data: SetupData): Promise<void> {
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

    /** Compares what arrived with what was sent. */
    async teardown({ run }: SetupData): Promise<void> {
      if (!options.ingest || !journeysFor(options).some((name) => journey(name).envelopes)) return;
      const { source, sent, missing, altered } = await readDelivery(options, run);
      const arrived = sent - missing.length;
      for (let at = 0; at < sent; at++) recordCheck("delivered", at < arrived);
      for (let at = 0; at < arrived; at++) recordCheck("unaltered", at < arrived - altered.length);
      const from = `of ${sent} envelopes (read from ${source})`;
      for (const { id, traceId } of missing.slice(0, 3))
        passExample(
          "delivered",
          `event ${id}`,
          traceId,
          `answered 200, did not arrive; missing: ${missing.length} ${from}`,
        );
      for (const { id, traceId, how } of altered.slice(0, 3))
        passExample("unaltered", `event ${id}`, traceId, `${how}; altered: ${altered.length} ${from}`);
    },

    handleSummary: (data: RunData) => {
      const { RUN_COMMIT: commit = "unknown", RUN_K6: k6 = "unknown" } = __ENV;
      return summaryFiles(summarise(plan, { time: new Date().toISOString(), commit, k6 }, data), options.out);
    },
  };
}

/** The hash of a navigation from this page. Next redirects to the address with it; older versions need none, and answer at once. */
async function navigationHash(options: Options, from: string): Promise<string> {
  const headers = navigationHeaders(from);
  const on = await probe(options, { path: navigationPath(from, "0"), headers, kind: "navigation" });
  return /[?&]_rsc=([^&]*)/.exec(on.headers.location ?? "")?.[1] ?? "0";
}

/** Why a run must not store events in a project for good without being told to, in one line; empty if it may. */
function storageRefusal(plan: Plan): string {
  const { options } = plan;
  if (options.sendEvents || isLocalIngest(options.dsn)) return "";
  const iterations = Array.from({ length: plannedIterations(plan) }, (_, at) => journey(journeyOf(plan, at)));
  const events = iterations.reduce((sum, { envelopes = 0 }) => sum + envelopes, 0);
  if (events === 0) return "";
  const { host, project } = options.dsn;
  return `this run stores about ${events} events in project ${project} at ${host}: set SEND_EVENTS=yes, or TUNNEL_PATH=off`;
}
