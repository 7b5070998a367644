import { tagDigest } from "./errors/digest";
import { identify } from "./errors/event-id";
import { notePageRequest, pageRequestId } from "./errors/request-id";
import { dropDeadEnd, type ErrorEvent, ignoredSpans, noiseReason } from "./filter/event-filters";
import { sampler } from "./filter/sampling";
import { scrub } from "./filter/scrub";
import { record } from "./send/send-outcomes";
import type { PublicSettings } from "./settings/public-settings";
import type { Settings } from "./settings/settings";
import { propagationTargets } from "./trace/propagation";

type Shared = { environment: string; release: string | undefined; region: string | undefined };
type Tagged = ErrorEvent & { event_id?: string; tags?: Record<string, unknown>; type?: string };
type Hint = { originalException?: unknown };

/**
 * What the SDK may collect, said in full: version 11 collects cookies, bodies and the client's address by default. Of headers and
 * queries it leaves out what sounds like a secret, and filter/scrub.ts the rest.
 */
const DATA_COLLECTION = {
  userInfo: false,
  cookies: false,
  // By these the SDK knows headers that name a client or a user: what an ingest may know of them is TUNNEL_CLIENT_IP's to say.
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

/** The SDK's parts that are left out, and why. */
const LEFT_OUT: Record<string, string> = {
  InboundFilters: "a list of noise as well; ours is the one that counts, and says why",
  BrowserSession: "two more posts for every page view, for release health alone",
  ConversationId: "for chats with a model",
};

function chosen<T extends { name: string }>(defaults: T[]): T[] {
  return defaults.filter(({ name }) => !(name in LEFT_OUT));
}

/**
 * Takes an error event, and what is to be added to it if it is sent; returns it ready to be sent, or null, with the reason
 * recorded, when it is noise.
 */
export function judge<T extends Tagged>(event: T, hint: Hint, add: (event: T) => T = (same) => same): T | null {
  const reason = noiseReason(event, hint.originalException);
  if (!reason) return scrub(tagDigest(add(event), hint));
  const { event_id: eventId } = event;
  const nothing = { status: undefined, latencyMs: undefined };
  record({ at: Date.now(), eventId, category: "error", outcome: "dropped", note: reason, ...nothing });
  return null;
}

/** Takes the public settings and returns the browser's SDK options. Trace headers go to the own origin only (SDK default). */
export function browserOptions(settings: PublicSettings) {
  const tag = <T extends Tagged>(event: T): T => ({ ...event, tags: { ...event.tags, request_id: pageRequestId() } });
  return {
    ...shared(settings),
    dsn: settings.dsn,
    tracesSampleRate: settings.tracesSampleRate,
    tunnel: settings.tunnelPath,
    integrations: chosen,
    beforeSend: <T extends Tagged>(event: T, hint: Hint) => judge(event, hint, tag),
    beforeSendTransaction: <T extends Tagged>(event: T) => {
      const alive = dropDeadEnd(event);
      return alive && scrub(tag(alive));
    },
    beforeBreadcrumb: <T extends { category?: string }>(breadcrumb: T, hint?: object): T => {
      if (breadcrumb.category === "fetch") notePageRequest(hint ?? {});
      return breadcrumb;
    },
    // A report needs no session; the proxy would drop the cookies anyway.
    transportOptions: { fetchOptions: { credentials: "omit" as const } },
  };
}

/** Takes the settings and returns the server's SDK options. */
export function serverOptions(settings: Settings) {
  return {
    ...shared(settings),
    dsn: settings.dsn?.public,
    ...(settings.serverTunnel && { tunnel: settings.serverTunnel.href }),
    integrations: chosen,
    beforeSend: <T extends Tagged>(event: T, hint: Hint) => judge(event, hint, identify),
    beforeSendTransaction: <T extends Tagged>(event: T) => scrub(identify(event)),
    tracesSampler: sampler(settings.tracesSampleRate),
    tracePropagationTargets: propagationTargets(settings.tracePropagationTargets),
    // An idle connection is closed here after 2 s, long before any ingest would: no report meets a closing one.
    transportOptions: { keepAlive: true },
  };
}
