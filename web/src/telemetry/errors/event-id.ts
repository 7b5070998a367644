import { eventIdOf, requestIdOf } from "./request-id";

type Event = {
  event_id?: string;
  exception?: { values?: { mechanism?: { type?: string; handled?: boolean } }[] };
  tags?: Record<string, unknown>;
  request?: { headers?: Record<string, string> };
};

const REMEMBERED = 1000;
const named = new Set<string>();

/**
 * Takes an event of the server and returns it tagged with the request that it happened in. The first exception
 * that ended a request gets that request's id as its own: whoever sees the error page can then quote one id that names
 * the event and the log line, although the browser is told nothing about the event.
 */
export function identify<T extends Event>(event: T): T {
  const headers = event.request?.headers ?? {};
  const id = requestIdOf({ get: (name) => headers[name] ?? null });
  if (!id) return event;
  const tagged = { ...event, tags: { ...event.tags, request_id: id } };
  // By Next's word, not Node's: a promise that somebody left behind in the request ends nothing.
  const ended = event.exception?.values?.some(
    ({ mechanism }) => mechanism?.handled === false && mechanism.type?.includes("nextjs"),
  );
  const own = eventIdOf(id);
  return ended && own && !named.has(own) ? { ...tagged, event_id: take(own) } : tagged;
}

function take(id: string): string {
  if (named.size >= REMEMBERED) named.clear();
  named.add(id);
  return id;
}
