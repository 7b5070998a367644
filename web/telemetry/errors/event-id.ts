import { eventIdOf, requestIdIn } from "./request-id.js";

type Event = {
  event_id?: string;
  exception?: { values?: { mechanism?: { type?: string; handled?: boolean } }[] };
  tags?: Record<string, unknown>;
  request?: { headers?: Record<string, string> };
};

const MAX_IDS = 1000;
const usedIds = new Set<string>();

/**
 * Returns an event of the server tagged with its request's id. The first exception that ended a request also gets that id as its event id: so the
 * error page can show one id that finds both the event and the proxy's log line, although the browser knows nothing about the event.
 */
export function tagWithRequest<T extends Event>(event: T): T {
  const id = requestIdIn(event.request?.headers ?? {});
  if (!id) return event;
  const tagged = { ...event, tags: { ...event.tags, request_id: id } };
  // Next's own mechanism, not Node's: an unhandled rejection during a request does not end it.
  const endedRequest = event.exception?.values?.some(
    ({ mechanism }) => mechanism?.handled === false && mechanism.type?.includes("nextjs"),
  );
  const eventId = eventIdOf(id);
  if (!endedRequest || !eventId || usedIds.has(eventId)) return tagged;
  if (usedIds.size >= MAX_IDS) usedIds.clear();
  usedIds.add(eventId);
  return { ...tagged, event_id: eventId };
}
