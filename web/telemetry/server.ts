import type * as sdk from "@sentry/nextjs";
import { captureRequestError } from "#sdk";
import type { SentryOptions } from "./sentry-options.js";

/**
 * Starts the SDK of this process; Next calls it once. Takes options for `Sentry.init`, or a function that returns them, for an app with a
 * `register` of its own. An invalid setting ends the process with a one-line error and exit code 1.
 */
export async function register(yours: SentryOptions | (() => SentryOptions) = {}): Promise<void> {
  // Replaced at build, so each runtime's bundle has its own module only.
  if (process.env.NEXT_RUNTIME === "edge") (await import("./index.edge.js")).start(yours);
  else (await import("./start.js")).start(yours);
}

/** Sends an exception of the server that ended a request; Next calls it. */
export const onRequestError: typeof sdk.captureRequestError = captureRequestError;
