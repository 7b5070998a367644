import { edgeOptions } from "./options/edge.js";
import type { SentryOptions } from "./sentry-options.js";
import { settings } from "./settings/settings.js";

/** As in index.ts, for Next's edge runtime. */
export function culvertOptions(yours: SentryOptions = {}): SentryOptions {
  const current = settings();
  return current.dsn || yours.dsn ? edgeOptions(current, yours) : yours;
}
