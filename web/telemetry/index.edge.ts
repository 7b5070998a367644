import { init } from "#sdk";
import { runtimeOptions } from "./options/runtime.js";
import type { SentryOptions } from "./sentry-options.js";
import { settings } from "./settings/settings.js";

/** As in index.ts, for Next's edge runtime, whose SDK has a transport of its own. */
export function culvertOptions(yours: SentryOptions = {}): SentryOptions {
  const current = settings();
  return current.dsn || yours.dsn ? runtimeOptions(current, yours) : yours;
}

/** As in start.ts. The server's process has checked the settings. */
export function start(yours: SentryOptions | (() => SentryOptions)): void {
  const options = culvertOptions(typeof yours === "function" ? yours() : yours);
  if (options.dsn) init(options);
}
