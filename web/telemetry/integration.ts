import { tagDigest } from "./errors/digest.js";
import { dropNotFoundNavigation, type ErrorEvent, filterReason } from "./filter/event-filters.js";
import { type Envelope, scrubEnvelope, scrubText } from "./filter/scrub.js";
import { recordOutcome } from "./send/send-outcomes.js";

type SentEvent = ErrorEvent & { type?: string; event_id?: string; tags?: Record<string, unknown> };
type Hint = { originalException?: unknown };
type Breadcrumb = { category?: string };
type Client = {
  addEventProcessor(processor: <T extends SentEvent>(event: T, hint: Hint) => T): void;
  on(hook: "beforeAddBreadcrumb", callback: (breadcrumb: Breadcrumb, hint?: object) => void): unknown;
  on(hook: "beforeEnvelope", callback: (envelope: Envelope) => void): unknown;
  on(hook: "createDsc", callback: (context: { transaction?: string }) => void): unknown;
};

/** The name of the integration, by which the SDK installs it once. */
export const NAME = "Culvert";

/** How one side finds out which request an event belongs to. */
type Requests = {
  addRequestId<T extends SentEvent>(event: T): T;
  noteBreadcrumb?(breadcrumb: Breadcrumb, hint?: object): unknown;
};

/**
 * Takes the region, if any, and how this side finds an event's request; returns an SDK integration that filters, tags and scrubs.
 * It uses the SDK's own hooks for integrations, so `beforeSend` and the other options stay the app's. Order of one event: this filters,
 * then `ignoreErrors` and the app's integrations, then this tags, then `beforeSend`, and last, when the envelope is ready, this scrubs.
 */
export function culvertIntegration(region: string | undefined, { addRequestId, noteBreadcrumb }: Requests) {
  const tag = <T extends SentEvent>(event: T, hint: Hint): T => {
    const tagged = region ? { ...event, tags: { region, ...event.tags } } : event;
    const identified = process.env.CULVERT_REQUEST_IDS === "off" ? tagged : addRequestId(tagged);
    return event.type ? identified : tagDigest(identified, hint);
  };
  return {
    name: NAME,
    setup(client: Client): void {
      if (noteBreadcrumb) client.on("beforeAddBreadcrumb", noteBreadcrumb);
      const scrubs = process.env.CULVERT_SCRUBBING !== "off";
      if (scrubs) client.on("beforeEnvelope", scrubEnvelope);
      // After Sentry.init, and so after the SDK's own integrations and hooks: they add the request to events, and the root span's name to
      // the `baggage` header of outgoing calls and of the page.
      queueMicrotask(() => {
        client.addEventProcessor(tag);
        if (scrubs)
          client.on("createDsc", (context) => {
            if (context.transaction) context.transaction = scrubText(context.transaction);
          });
      });
    },
    processEvent<T extends SentEvent>(event: T, hint: Hint): T | null {
      if (process.env.CULVERT_EVENT_FILTERS !== "off" && isFiltered(event, hint)) return null;
      return event;
    },
  };
}

/** Returns whether an event filter matches, and then records the reason as a send outcome. */
function isFiltered(event: SentEvent, hint: Hint): boolean {
  if (event.type === "transaction") return dropNotFoundNavigation(event) === null;
  const reason = event.type ? undefined : filterReason(event, hint.originalException);
  if (reason && process.env.CULVERT_SEND_OUTCOMES === "on")
    recordOutcome({
      at: Date.now(),
      eventId: event.event_id,
      category: "error",
      outcome: "dropped",
      note: reason,
      status: undefined,
      latencyMs: undefined,
    });
  return reason !== undefined;
}
