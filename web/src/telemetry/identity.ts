import { requestIdOf } from "./request-id";

type Event = {
  event_id?: string;
  exception?: { values?: { mechanism?: { handled?: boolean } }[] };
  tags?: Record<string, unknown>;
  request?: { headers?: Record<string, string> };
};

const REMEMBERED = 1000;
const named = new Set<string>();

/**
 * Takes an event of the server and returns it tagged with the request that it happened in. The first exception
 * of a request that nobody handled gets that request's id as its own: whoever sees the error page can then quote one id that names
 * the event and the log line, although the browser is told nothing about the event.
 */
export function identify<T extends Event>(event: T): T {
  const headers = event.request?.headers ?? {};
  const id = requestIdOf({ get: (name) => headers[name] ?? null });
  if (!id) return event;
  const tagged = { ...event, tags: { ...event.tags, request_id: id } };
  const unhandled = event.exception?.values?.some(({ mechanism }) => mechanism?.handled === false);
  return unhandled && !named.has(id) ? { ...tagged, event_id: take(id) } : tagged;
}

function take(id: string): string {
  if (named.size >= REMEMBERED) named.clear();
  named.add(id);
  return id;
}
