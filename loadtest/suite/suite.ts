import exec from "k6/execution";
import { JOURNEYS } from "../journeys/index.ts";
import type { Client } from "../lib/client.ts";
import { OptionError, type Options, readOptions } from "../lib/options.ts";
import { pageTrace } from "../lib/page-trace.ts";
import { k6Client } from "./k6-client.ts";
import { targetProblem } from "./preflight.ts";
import type { ProfileName } from "./profiles.ts";
import { journeyOf, scenarios, shape } from "./scenarios.ts";
import { type RunData, summarise } from "./summary.ts";
import { summaryFiles } from "./summary-files.ts";
import { thresholds } from "./thresholds.ts";

interface SetupData {
  /** Trace ids of the pages before the run: a client that receives one of them again got a cached page. */
  probedTraceIds: string[];
}

/** Everything that k6 requires of an entry script, for one load profile. An invalid option stops the run with one line. */
export function suite(profile: ProfileName) {
  const options = optionsOrError(profile);
  return options instanceof OptionError ? abortInSetup(options.message) : script(profile, options);
}

function script(profile: ProfileName, options: Options) {
  const plateau = profile === "outage" ? shape(profile, options).plateau : undefined;
  let client: Client | undefined;

  return {
    /** k6's own options. */
    options: {
      scenarios: scenarios(profile, options),
      thresholds: thresholds(profile, options),
      tags: { profile },
      userAgent: "culvert-loadtest",
      setupTimeout: "60s",
      summaryTrendStats: ["count", "med", "p(95)", "p(99)", "max"],
    },

    async setup(): Promise<SetupData> {
      const probe = k6Client(options, new Set(), undefined);
      const probedTraceIds: string[] = [];
      for (const path of options.pages) {
        const page = await probe.request({ path, name: path });
        const problem = targetProblem(options, path, page);
        if (problem) exec.test.abort(problem);
        probedTraceIds.push(pageTrace(page.body).trace?.traceId ?? "");
      }
      return { probedTraceIds };
    },

    async iteration({ probedTraceIds }: SetupData): Promise<void> {
      client ??= k6Client(options, new Set(probedTraceIds), plateau);
      const journey = journeyOf(exec.scenario.name, exec.scenario.iterationInTest, options);
      exec.vu.metrics.tags.journey = journey;
      if (plateau !== undefined) exec.vu.metrics.tags.phase = client.phase() ?? "";
      let exception = "";
      try {
        await JOURNEYS[journey].run(client);
      } catch (error) {
        exception = String(error);
      }
      client.check("iteration_ok", exception === "", `${journey}: ${exception}`);
    },

    handleSummary: (data: RunData) => summaryFiles(summarise(profile, options, data), options.out),
  };
}

/** A script that only stops the run: k6 prints an abort in `setup` as one line, an exception while loading with its stack. */
function abortInSetup(problem: string): ReturnType<typeof script> {
  const empty = {
    options: {},
    setup: () => exec.test.abort(problem),
    iteration: async () => {},
    handleSummary: () => ({}),
  };
  return empty as unknown as ReturnType<typeof script>;
}

function optionsOrError(profile: ProfileName): Options | OptionError {
  try {
    const options = readOptions(__ENV);
    // The response is the same whether the ingest or the spool accepted an envelope, so a missing outage would go unnoticed.
    if (profile === "outage" && options.outage === undefined)
      throw new OptionError(
        "OUTAGE is not set: start run.sh, or stop and start the ingest yourself and set OUTAGE=manual",
      );
    return options;
  } catch (error) {
    if (error instanceof OptionError) return error;
    throw error;
  }
}
