import { captureRequestError } from "@sentry/nextjs";

export async function register() {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { startTelemetry } = await import("./telemetry/server");
  startTelemetry();
}

export const onRequestError = captureRequestError;
