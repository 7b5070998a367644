import exec from "k6/execution";
import { JOURNEYS, journey, journeysFor, shareOfJourney } from "../journeys/index.ts";
import { type Client, newClient, passExample, probe, recordCheck, type SetupData } from "../lib/client.ts";
import { readDelivery, readerProblem } from "../lib/delivery.ts";
import { isLocalIngest, OptionError } from "../lib/options.ts";
import { randomHex } from "../lib/random.ts";
import { Unavailable } from "../lib/request.ts";
import { pageTrace } from "../lib/trace.ts";
import { type Plan, readPlan } from "./plan.ts";
import { targetProblem } from "./preflight.ts";
import { summaryFiles } from "./report.ts";
import { journeyOf, plannedIterations, plateauOf, scenarios } from "./scenarios.ts";
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
  const plateau = plan.name === "outage" ? plateauOf(plan) : undefined;
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
        probed[path] = { traceId: pageTrace(page.body).trace?.traceId ?? "", length: page.body.length };
      }
      return { probed, run: randomHex(8) };
    },

    async iteration(data: SetupData): Promise<void> {
      client ??= newClient(options, data, plateau);
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

/** Why a run must not store events in a project for good without being told to, in one line; empty if it may. */
function storageRefusal(plan: Plan): string {
  const { options } = plan;
  if (options.sendEvents || isLocalIngest(options.dsn)) return "";
  const names = journeysFor(options);
  const share = (name: (typeof names)[number]) => shareOfJourney(name, options);
  const perIteration =
    names.reduce((sum, name) => sum + (journey(name).envelopes ?? 0) * share(name), 0) /
    names.reduce((sum, name) => sum + share(name), 0);
  const events = Math.ceil(plannedIterations(plan) * perIteration);
  const { host, project } = options.dsn;
  return events === 0
    ? ""
    : `this run stores about ${events} events in project ${project} at ${host}: set SEND_EVENTS=yes, or TUNNEL_PATH=off`;
}
