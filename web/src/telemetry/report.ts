import { captureException } from "@sentry/nextjs";
import { digestOf } from "./digest";

/** Takes what an error boundary caught and reports it, unless it has a digest: then the server has reported it already. */
export function reportFromBoundary(error: unknown): void {
  if (digestOf(error)) return;
  captureException(error, { mechanism: { type: "auto.react.error_boundary", handled: true } });
}
