import { action } from "../journeys/action.ts";
import { assets } from "../journeys/assets.ts";
import { browse } from "../journeys/browse.ts";
import { continued } from "../journeys/continued.ts";
import { crowd } from "../journeys/crowd.ts";
import { hygiene } from "../journeys/hygiene.ts";
import { independence } from "../journeys/independence.ts";
import { notFound } from "../journeys/not-found.ts";
import { forwarded, outgoing } from "../journeys/outgoing.ts";
import { redirect } from "../journeys/redirect.ts";
import { refuse } from "../journeys/refuse.ts";
import { replay, report } from "../journeys/report.ts";
import type { CheckId } from "./checks.ts";
import type { Knobs } from "./knobs.ts";
import type { Journey } from "./visitor.ts";

interface Entry {
  run: Journey;
  /** Its part of all visits, in percent. */
  share: number;
  /** The checks it must have booked by the end; those that every answer books are left out. */
  checks: CheckId[];
  /** The knob whose `off` turns it off. */
  needs?: keyof Pick<Knobs, "tracePage" | "echoPath" | "actionPage" | "redirectPage" | "tunnelPath">;
}

const CONTINUED: CheckId[] = ["continued_trace", "continued_span", "continued_sampled", "continued_baggage"];

/** Every journey: what the suite does, how often, and what that proves. */
export const JOURNEYS = {
  browse: { run: browse, share: 37, checks: ["fresh_valid", "fresh_unique", "page_ok", "navigation_ok", "indexable"] },
  continued: { run: continued, share: 20, checks: CONTINUED },
  outgoing: {
    run: outgoing,
    share: 10,
    checks: ["outgoing_trace", "outgoing_traceparent", "outgoing_baggage", "outgoing_vendor"],
    needs: "tracePage",
  },
  forwarded: { run: forwarded, share: 4, checks: ["forwarded"], needs: "echoPath" },
  crowd: { run: crowd, share: 2, checks: ["fresh_unique"] },
  hygiene: { run: hygiene, share: 1, checks: ["hygiene_page", "hygiene_echo", "answers_clean"] },
  assets: { run: assets, share: 6, checks: ["asset_ok"] },
  action: { run: action, share: 4, checks: ["action_ok"], needs: "actionPage" },
  redirect: { run: redirect, share: 4, checks: ["redirect_ok"], needs: "redirectPage" },
  notFound: { run: notFound, share: 3, checks: ["not_found_status", "not_found_noindex"] },
  report: { run: report, share: 6, checks: ["tunnel_accepted", "tunnel_open"], needs: "tunnelPath" },
  replay: { run: replay, share: 1, checks: ["tunnel_accepted"], needs: "tunnelPath" },
  refuse: { run: refuse, share: 1, checks: ["tunnel_refused"], needs: "tunnelPath" },
  independence: { run: independence, share: 1, checks: ["page_independent"], needs: "tunnelPath" },
} as const satisfies Record<string, Entry>;

export type JourneyName = keyof typeof JOURNEYS;

/** The journeys that the knobs leave on, in the table's order. */
export function journeysFor(knobs: Knobs): JourneyName[] {
  const names = Object.keys(JOURNEYS) as JourneyName[];
  return names.filter((name) => {
    const { needs }: Entry = JOURNEYS[name];
    return needs === undefined || knobs[needs] !== "";
  });
}
