import type { CheckId } from "../lib/checks.ts";
import type { Journey } from "../lib/client.ts";
import type { Options } from "../lib/options.ts";
import { action } from "./action.ts";
import { assets } from "./assets.ts";
import { browse } from "./browse.ts";
import { concurrent } from "./concurrent.ts";
import { continued } from "./continued.ts";
import { envelopes } from "./envelopes.ts";
import { forwarded } from "./forwarded.ts";
import { independence } from "./independence.ts";
import { invalidHeaders } from "./invalid-headers.ts";
import { notFound } from "./not-found.ts";
import { outgoing } from "./outgoing.ts";
import { redirect } from "./redirect.ts";
import { reject } from "./reject.ts";
import { replay } from "./replay.ts";

interface Entry {
  run: Journey;
  /** Its part of all iterations, in percent. */
  share: number;
  /** The checks that must have samples at the end, apart from those recorded for every response. */
  checks: CheckId[];
  /** The option whose value `off` disables the journey. */
  needs?: keyof Pick<Options, "tracePage" | "echoPath" | "actionPage" | "redirectPage" | "tunnelPath">;
}

const CONTINUED: CheckId[] = ["continued_trace", "continued_span", "continued_sampled", "continued_baggage"];

/** Every journey: what it does, how often it runs and which checks it records. */
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
  concurrent: { run: concurrent, share: 2, checks: ["fresh_unique"] },
  invalidHeaders: {
    run: invalidHeaders,
    share: 1,
    checks: ["invalid_headers_page", "invalid_headers_echo", "no_trace_headers"],
  },
  assets: { run: assets, share: 6, checks: ["asset_ok"] },
  action: { run: action, share: 4, checks: ["action_ok"], needs: "actionPage" },
  redirect: { run: redirect, share: 4, checks: ["redirect_ok"], needs: "redirectPage" },
  notFound: { run: notFound, share: 3, checks: ["not_found_status", "not_found_noindex"] },
  envelopes: { run: envelopes, share: 6, checks: ["tunnel_accepted", "tunnel_within_limits"], needs: "tunnelPath" },
  replay: { run: replay, share: 1, checks: ["tunnel_accepted"], needs: "tunnelPath" },
  reject: { run: reject, share: 1, checks: ["tunnel_rejected"], needs: "tunnelPath" },
  independence: { run: independence, share: 1, checks: ["page_independent"], needs: "tunnelPath" },
} as const satisfies Record<string, Entry>;

export type JourneyName = keyof typeof JOURNEYS;

/** The journeys that the options leave enabled, in the table's order. */
export function journeysFor(options: Options): JourneyName[] {
  const names = Object.keys(JOURNEYS) as JourneyName[];
  return names.filter((name) => {
    const { needs }: Entry = JOURNEYS[name];
    return needs === undefined || options[needs] !== "";
  });
}
