import { tagDigest } from "./errors/digest.js";
import { type ErrorEvent, filterReason, isNotFoundNavigation } from "./filter/event-filters.js";
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

/** How one side finds out which request an event belongs to. */
type Requests = {
  addRequestId<T extends SentEvent>(event: T): T;
  noteBreadcrumb?(breadcrumb: Breadcrumb, hint?: object): unknown;
};

/**
 * Takes the region, if any, and how this side finds an event's request; returns an integration that filters, tags and scrubs. Order of one event: this
 * filters, then `ignoreErrors` and the app's integrations, then this tags, then `beforeSend`, and last, when the envelope is ready, this scrubs.
 */
export function culvertIntegration(region: string | undefined, { addRequestId, noteBreadcrumb }: Requests) {
  const tag = <T extends SentEvent>(event: T, hint: Hint): T => {
    const tagged = region ? { ...event, tags: { region, ...event.tags } } : event;
    const identified = process.env.CULVERT_REQUEST_IDS === "off" ? tagged : addRequestId(tagged);
    return event.type ? identified : tagDigest(identified, hint);
  };
  return {
    // By which the SDK installs it once.
    name: "Culvert",
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
      return process.env.CULVERT_EVENT_FILTERS !== "off" && isFiltered(event, hint) ? null : event;
    },
  };
}

/** Returns whether an event filter matches, and then records the reason as a send outcome. */
function isFiltered(event: SentEvent, hint: Hint): boolean {
  if (event.type) return event.type === "transaction" && isNotFoundNavigation(event);
  const note = filterReason(event, hint.originalException);
  if (note && process.env.CULVERT_SEND_OUTCOMES === "on")
    recordOutcome({ at: Date.now(), eventId: event.event_id, category: "error", outcome: "dropped", note });
  return note !== undefined;
}
