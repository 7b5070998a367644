import { init } from "#sdk";
import { culvertOptions } from "./index.edge.js";
import type { SentryOptions } from "./sentry-options.js";

/** As in start.ts, for Next's edge runtime. The server's process has checked the settings. */
export function start(yours: SentryOptions | (() => SentryOptions)): void {
  const options = culvertOptions(typeof yours === "function" ? yours() : yours);
  if (options.dsn) init(options);
}
