/** Takes anything thrown and returns the digest that Next gives to exceptions of the server: all that a visitor is shown. */
export function digestOf(error: unknown): string | undefined {
  const digest = typeof error === "object" && error !== null && "digest" in error ? error.digest : undefined;
  return typeof digest === "string" ? digest : undefined;
}

type Tagged = { tags?: Record<string, unknown> };

/** Takes an error event and the exception behind it; returns the event tagged with the digest, so that one finds the other. */
export function tagDigest<T extends Tagged>(event: T, { originalException }: { originalException?: unknown }): T {
  const digest = digestOf(originalException);
  return digest ? { ...event, tags: { ...event.tags, digest } } : event;
}

const REMEMBERED = 1000;
const noted = new Map<string, string>();

/** Takes an exception of the server and its request's id, and keeps the digest for the page that is about to be sent. */
export function noteDigest(error: unknown, requestId: string | undefined): void {
  if (!requestId) return;
  if (noted.size >= REMEMBERED) noted.clear();
  noted.set(requestId, digestOf(error) ?? noted.get(requestId) ?? "");
}

/** Takes a request's id and returns the digest of its latest exception, "" if that has none; undefined when there was no exception. */
export function notedDigest(requestId: string | undefined): string | undefined {
  return requestId && noted.get(requestId);
}
