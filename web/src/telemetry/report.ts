import { captureException } from "@sentry/nextjs";

/** Takes what an error boundary caught and returns the digest that Next gives to exceptions of the server. */
export function digestOf(error: unknown): string | undefined {
  const digest = typeof error === "object" && error !== null && "digest" in error ? error.digest : undefined;
  return typeof digest === "string" ? digest : undefined;
}

/** Takes what an error boundary caught and reports it, unless it has a digest: then the server has reported it already. */
export function reportFromBoundary(error: unknown): void {
  if (digestOf(error)) return;
  captureException(error, { mechanism: { type: "auto.react.error_boundary", handled: true } });
}
