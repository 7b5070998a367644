import type { CheckId } from "../lib/checks.ts";
import type { Journey } from "../lib/client.ts";
import { OptionError, type Options } from "../lib/options.ts";
import type { Kind } from "../lib/request.ts";
import { action } from "./action.ts";
import { assets } from "./assets.ts";
import { browse } from "./browse.ts";
import { concurrent, continued } from "./continued.ts";
import { compressed, envelopes, reject, replay } from "./envelopes.ts";
import { forwarded } from "./forwarded.ts";
import { invalidHeaders } from "./invalid-headers.ts";
import { notFound } from "./not-found.ts";
import { outgoing } from "./outgoing.ts";
import { redirect } from "./redirect.ts";

interface Entry {
  run: Journey;
  share: number;
  /** What must have samples at the end. */
  checks: CheckId[];
  /** The kinds of its requests, other than pages. */
  kinds?: Kind[];
  /** The option without which the journey does not run. */
  needs?: keyof Options;
}

const CONTINUED: CheckId[] = ["continued_trace", "continued_span", "continued_sampled", "continued_baggage"];
const OUTGOING: CheckId[] = ["outgoing_trace", "outgoing_traceparent", "outgoing_baggage", "outgoing_vendor"];
const TUNNEL: CheckId[] = ["tunnel_accepted", "tunnel_answer"];

export const JOURNEYS = {
  browse: {
    run: browse,
    share: 37,
    checks: ["page_ok", "page_complete", "page_headers", "indexable", "no_trace_cookie"],
    needs: "pages",
  },
  continued: { run: continued, share: 20, checks: CONTINUED, needs: "trace" },
  outgoing: { run: outgoing, share: 10, checks: OUTGOING, needs: "tracePage" },
  forwarded: { run: forwarded, share: 4, checks: ["forwarded"], kinds: ["echo"], needs: "echoPath" },
  concurrent: { run: concurrent, share: 2, checks: [...CONTINUED, "fresh_unique"], needs: "trace" },
  invalidHeaders: {
    run: invalidHeaders,
    share: 1,
    checks: ["invalid_headers_page", "invalid_headers_echo", "no_trace_headers"],
    needs: "pages",
  },
  assets: { run: assets, share: 6, checks: ["asset_ok"], kinds: ["file"], needs: "pages" },
  action: { run: action, share: 4, checks: ["action_ok"], kinds: ["action"], needs: "actionPage" },
  redirect: { run: redirect, share: 4, checks: ["redirect_ok"], kinds: ["redirect"], needs: "redirectPage" },
  notFound: { run: notFound, share: 3, checks: ["not_found_status"], kinds: ["404"], needs: "pages" },
  envelopes: {
    run: envelopes,
    share: 6,
    checks: [...TUNNEL, "tunnel_within_limits"],
    kinds: ["envelope"],
    needs: "tunnelPath",
  },
  compressed: {
    run: compressed,
    share: 1,
    checks: ["tunnel_compressed"],
    kinds: ["envelope"],
    needs: "compressed",
  },
  replay: { run: replay, share: 1, checks: TUNNEL, kinds: ["envelope"], needs: "tunnelPath" },
  reject: { run: reject, share: 1, checks: ["tunnel_rejected"], kinds: ["rejected"], needs: "tunnelPath" },
} as const satisfies Record<string, Entry>;

export type JourneyName = keyof typeof JOURNEYS;

export const JOURNEY_NAMES = Object.keys(JOURNEYS) as JourneyName[];

export const journey = (name: JourneyName): Entry => JOURNEYS[name];

/** Whether a journey's envelopes may be stored for good. */
export const sendsEnvelopes = (name: JourneyName): boolean => journey(name).kinds?.includes("envelope") ?? false;

/** The journeys to run. Throws an OptionError for an unknown name, or if none is left. */
export function journeysFor(options: Options): JourneyName[] {
  const chosen = Object.keys(options.journeys);
  const unknown = chosen.find((name) => !(name in JOURNEYS));
  if (unknown) throw new OptionError(`JOURNEYS "${unknown}" is not a journey: use ${JOURNEY_NAMES.join(", ")}`);
  const enabled = JOURNEY_NAMES.filter((name) => {
    const { needs } = journey(name);
    const possible = (!needs || [options[needs]].flat().some(Boolean)) && (options.sendEvents || !sendsEnvelopes(name));
    return possible && (chosen.length === 0 || chosen.includes(name));
  });
  if (enabled.length === 0)
    throw new OptionError(
      "JOURNEYS, PAGES and TUNNEL_PATH leave no journey for this target: name more (a tunnel needs SENTRY_DSN)",
    );
  return enabled;
}

export const shareOfJourney = (name: JourneyName, { journeys }: Options): number =>
  Number(journeys[name] || JOURNEYS[name].share);
