import { eventIdOf, requestIdOf } from "./request-id.js";

type Event = {
  event_id?: string;
  exception?: { values?: { mechanism?: { type?: string; handled?: boolean } }[] };
  tags?: Record<string, unknown>;
  request?: { headers?: Record<string, string> };
};

const MAX_IDS = 1000;
const usedIds = new Set<string>();

/**
 * Takes an event of the server and returns it tagged with its request's id. The first exception that ended a request also gets
 * that id as its event id. So the error page can show one id that finds both the event and the proxy's log line, although the
 * browser knows nothing about the event.
 */
export function tagWithRequest<T extends Event>(event: T): T {
  const headers = event.request?.headers ?? {};
  const id = requestIdOf({ get: (name) => headers[name] ?? null });
  if (!id) return event;
  const tagged = { ...event, tags: { ...event.tags, request_id: id } };
  // Next's own mechanism, not Node's: an unhandled rejection during a request does not end it.
  const endedRequest = event.exception?.values?.some(
    ({ mechanism }) => mechanism?.handled === false && mechanism.type?.includes("nextjs"),
  );
  const eventId = eventIdOf(id);
  return endedRequest && eventId && !usedIds.has(eventId) ? { ...tagged, event_id: use(eventId) } : tagged;
}

function use(id: string): string {
  if (usedIds.size >= MAX_IDS) usedIds.clear();
  usedIds.add(id);
  return id;
}
