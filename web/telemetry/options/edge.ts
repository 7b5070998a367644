import type { SentryOptions } from "../sentry-options.js";
import type { Settings } from "../settings/settings.js";
import { runtimeOptions } from "./runtime.js";

/** Takes the settings and the app's options; returns the options of the SDK in Next's edge runtime, which has no transport of ours. */
export function edgeOptions(settings: Settings, yours: SentryOptions): SentryOptions {
  return runtimeOptions(settings, yours, (defaults) => defaults);
}
