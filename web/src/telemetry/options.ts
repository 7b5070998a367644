import { tagDigest } from "./digest";
import { dropDeadEnd, ignoredSpans } from "./noise";
import { propagationTargets } from "./propagation";
import type { PublicSettings } from "./public-settings";
import { sampler } from "./sampling";
import type { Settings } from "./settings";

type Shared = { environment: string; release: string | undefined };

function shared({ environment, release }: Shared) {
  return { environment, release, ignoreSpans: ignoredSpans, propagateTraceparent: true };
}

/** Takes the public settings and returns the browser's SDK options. Trace headers go to the own origin only (SDK default). */
export function browserOptions(settings: PublicSettings) {
  return {
    ...shared(settings),
    dsn: settings.dsn,
    tracesSampleRate: settings.tracesSampleRate,
    tunnel: settings.tunnelPath,
    beforeSendTransaction: dropDeadEnd,
    // A report needs no session; the proxy would drop the cookies anyway.
    transportOptions: { fetchOptions: { credentials: "omit" as const } },
  };
}

/** Takes the settings and returns the server's SDK options. */
export function serverOptions(settings: Settings) {
  return {
    ...shared(settings),
    dsn: settings.dsn?.public,
    beforeSend: tagDigest,
    tracesSampler: sampler(settings.tracesSampleRate),
    tracePropagationTargets: propagationTargets(settings.upstreamUrl),
  };
}
