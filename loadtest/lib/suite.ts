import exec from "k6/execution";
import { JOURNEYS } from "./journeys.ts";
import { k6Visitor } from "./k6-visitor.ts";
import { KnobError, type Knobs, readKnobs } from "./knobs.ts";
import { pageTrace } from "./page-trace.ts";
import { unfit } from "./preflight.ts";
import { reports } from "./reports.ts";
import { journeyOf, scenarios, shape } from "./scenarios.ts";
import type { ProfileName } from "./stages.ts";
import { type RunData, summarise } from "./summary.ts";
import { thresholds } from "./thresholds.ts";
import type { Visitor } from "./visitor.ts";

interface Found {
  /** Trace ids that the pages showed before the run: whoever is shown one again was given a cached page. */
  known: string[];
}

/** Everything that k6 wants from an entry script, for one profile. A bad knob stops the run with one line. */
export function suite(profile: ProfileName) {
  const knobs = knobsOrError(profile);
  return knobs instanceof KnobError ? stillborn(knobs.message) : running(profile, knobs);
}

function running(profile: ProfileName, knobs: Knobs) {
  const plateau = profile === "outage" ? shape(profile, knobs).plateau : undefined;
  let visitor: Visitor | undefined;

  return {
    options: {
      scenarios: scenarios(profile, knobs),
      thresholds: thresholds(profile, knobs),
      tags: { profile },
      userAgent: "culvert-loadtest",
      setupTimeout: "60s",
      summaryTrendStats: ["count", "med", "p(95)", "p(99)", "max"],
    },

    async setup(): Promise<Found> {
      const scout = k6Visitor(knobs, new Set(), undefined);
      const known: string[] = [];
      for (const path of knobs.pages) {
        const page = await scout.ask({ path, name: path });
        const problem = unfit(knobs, path, page);
        if (problem) exec.test.abort(problem);
        known.push(pageTrace(page.body).trace?.traceId ?? "");
      }
      return { known };
    },

    async visit({ known }: Found): Promise<void> {
      visitor ??= k6Visitor(knobs, new Set(known), plateau);
      const journey = journeyOf(exec.scenario.name, exec.scenario.iterationInTest, knobs);
      exec.vu.metrics.tags.journey = journey;
      if (plateau !== undefined) exec.vu.metrics.tags.phase = visitor.phase() ?? "";
      let thrown = "";
      try {
        await JOURNEYS[journey].run(visitor);
      } catch (error) {
        thrown = String(error);
      }
      visitor.check("iteration_ok", thrown === "", `${journey}: ${thrown}`);
    },

    handleSummary: (data: RunData) => reports(summarise(profile, knobs, data), knobs.out),
  };
}

/** k6 prints an error thrown while it loads a script with a stack, and an abort in `setup` as one line. */
function stillborn(problem: string): ReturnType<typeof running> {
  const nothing = {
    options: {},
    setup: () => exec.test.abort(problem),
    visit: async () => {},
    handleSummary: () => ({}),
  };
  return nothing as unknown as ReturnType<typeof running>;
}

function knobsOrError(profile: ProfileName): Knobs | KnobError {
  try {
    const knobs = readKnobs(__ENV);
    // A report is answered alike whether the ingest or the spool took it: from here an outage that never was looks fine.
    if (profile === "outage" && knobs.outage === undefined)
      throw new KnobError("OUTAGE is not set: start run.sh, or stop and start the ingest yourself and give by-hand");
    return knobs;
  } catch (error) {
    if (error instanceof KnobError) return error;
    throw error;
  }
}
