import { captureRequestError } from "@sentry/nextjs";
import type { Instrumentation } from "next";
import { noteDigest } from "./telemetry/errors/digest";
import { requestIdIn } from "./telemetry/errors/request-id";

export async function register() {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { startTelemetry } = await import("./telemetry/server");
  startTelemetry();
}

export const onRequestError: Instrumentation.onRequestError = (error, request, context) => {
  noteDigest(error, requestIdIn(request.headers));
  captureRequestError(error, request, context);
};
