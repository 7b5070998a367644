/** Takes anything thrown and returns the digest that Next gives exceptions of the server, the only detail that a user is shown. */
export function digestOf(error: unknown): string | undefined {
  const digest = typeof error === "object" && error !== null && "digest" in error ? error.digest : undefined;
  return typeof digest === "string" ? digest : undefined;
}

type Tagged = { tags?: Record<string, unknown> };

/** Takes an error event and the exception behind it; returns the event tagged with the digest, so that the event can be found by it. */
export function tagDigest<T extends Tagged>(event: T, { originalException }: { originalException?: unknown }): T {
  const digest = digestOf(originalException);
  return digest ? { ...event, tags: { ...event.tags, digest } } : event;
}
