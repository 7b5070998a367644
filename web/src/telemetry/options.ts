import { tagDigest } from "./errors/digest";
import { tagWithRequest } from "./errors/event-id";
import { notePageRequest, pageRequestId } from "./errors/request-id";
import { dropNotFoundNavigation, type ErrorEvent, filterReason, ignoredSpans } from "./filter/event-filters";
import { sampler } from "./filter/sampling";
import { scrub } from "./filter/scrub";
import { recordOutcome } from "./send/send-outcomes";
import type { PublicSettings } from "./settings/public-settings";
import type { Settings } from "./settings/settings";
import { propagationTargets } from "./trace/propagation";

type Shared = { environment: string; release: string | undefined; region: string | undefined };
type Tagged = ErrorEvent & { event_id?: string; tags?: Record<string, unknown>; type?: string };
type Hint = { originalException?: unknown };

/**
 * What the SDK may collect, set in full because version 11 collects cookies, bodies and the client's IP by default. The SDK
 * filters headers and query parameters with secret-sounding names; filter/scrub.ts filters the rest.
 */
const DATA_COLLECTION = {
  userInfo: false,
  cookies: false,
  // Substrings of headers that identify a client or a user: only TUNNEL_CLIENT_IP decides what an ingest learns of them.
  httpHeaders: { deny: ["forwarded", "-ip", "remote-", "via", "-user"] },
  httpBodies: [],
  urlQueryParams: true,
  graphQL: { document: true, variables: false },
  genAI: { inputs: false, outputs: false },
  // Version 11 only.
  mcp: { inputs: false, outputs: false },
  queues: false,
  databaseQueryData: false,
  stackFrameVariables: false,
};

function shared({ environment, release, region }: Shared) {
  return {
    environment,
    release,
    initialScope: { tags: region ? { region } : {} },
    ignoreSpans: ignoredSpans,
    propagateTraceparent: true,
    beforeSendLog: scrub,
    dataCollection: DATA_COLLECTION,
  };
}

/** The SDK's default integrations that are not used, and why. */
const OMITTED_INTEGRATIONS: Record<string, string> = {
  InboundFilters: "event filters as well; ours replace them, and give a reason",
  BrowserSession: "two more requests for every page view, only for release health",
  ConversationId: "for conversations with AI models",
};

function withoutOmitted<T extends { name: string }>(defaults: T[]): T[] {
  return defaults.filter(({ name }) => !(name in OMITTED_INTEGRATIONS));
}

/**
 * Takes an error event, and a function that adds to it if it is sent. Returns the event ready to be sent, or null if an event
 * filter matches; then it records the reason as a send outcome.
 */
export function filterError<T extends Tagged>(event: T, hint: Hint, add: (event: T) => T = (same) => same): T | null {
  const reason = filterReason(event, hint.originalException);
  if (!reason) return scrub(tagDigest(add(event), hint));
  const { event_id: eventId } = event;
  const notSent = { status: undefined, latencyMs: undefined };
  recordOutcome({ at: Date.now(), eventId, category: "error", outcome: "dropped", note: reason, ...notSent });
  return null;
}

/** Takes the public settings and returns the browser's SDK options. Trace headers go to its own origin only (SDK default). */
export function browserOptions(settings: PublicSettings) {
  const tag = <T extends Tagged>(event: T): T => ({ ...event, tags: { ...event.tags, request_id: pageRequestId() } });
  return {
    ...shared(settings),
    dsn: settings.dsn,
    tracesSampleRate: settings.tracesSampleRate,
    tunnel: settings.tunnelPath,
    integrations: withoutOmitted,
    beforeSend: <T extends Tagged>(event: T, hint: Hint) => filterError(event, hint, tag),
    beforeSendTransaction: <T extends Tagged>(event: T) => {
      const wanted = dropNotFoundNavigation(event);
      return wanted && scrub(tag(wanted));
    },
    beforeBreadcrumb: <T extends { category?: string }>(breadcrumb: T, hint?: object): T => {
      if (breadcrumb.category === "fetch") notePageRequest(hint ?? {});
      return breadcrumb;
    },
    // Envelopes need no session; the proxy would drop the cookies anyway.
    transportOptions: { fetchOptions: { credentials: "omit" as const } },
  };
}

/** Takes the settings and returns the server's SDK options. */
export function serverOptions(settings: Settings) {
  return {
    ...shared(settings),
    dsn: settings.dsn?.public,
    ...(settings.serverTunnel && { tunnel: settings.serverTunnel.href }),
    integrations: withoutOmitted,
    beforeSend: <T extends Tagged>(event: T, hint: Hint) => filterError(event, hint, tagWithRequest),
    beforeSendTransaction: <T extends Tagged>(event: T) => scrub(tagWithRequest(event)),
    tracesSampler: sampler(settings.tracesSampleRate),
    tracePropagationTargets: propagationTargets(settings.tracePropagationTargets),
    // The SDK closes idle connections after 2 s, long before any ingest does, so no envelope is sent on a closing connection.
    transportOptions: { keepAlive: true },
  };
}
