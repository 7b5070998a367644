import { captureRouterTransitionStart } from "@sentry/nextjs";
import { startTelemetry } from "./telemetry/browser";

startTelemetry();

export const onRouterTransitionStart = captureRouterTransitionStart;
