import { serverOptions } from "./options/server.js";
import { flushOnShutdown } from "./send/shutdown.js";
import type { SentryOptions } from "./sentry-options.js";
import { tellDeploymentId } from "./serve/deployment-id.js";
import { queueFairly } from "./serve/fair-queue.js";
import { sendServerTiming } from "./serve/server-timing.js";
import { settingsMetrics } from "./settings/send-browser-settings.js";
import { settings } from "./settings/settings.js";
import { traceMetrics } from "./trace/page-trace.js";

export type { SentryOptions } from "./sentry-options.js";

/**
 * Options for an app that calls `Sentry.init` itself: `Sentry.init(culvertOptions({ …yours }))`, in the browser and on the server. Returns the
 * app's options with ours. A value of the app's wins; lists and hooks are joined. Without SENTRY_DSN, DSN, environment and sample rate are the
 * app's; without any DSN it returns the app's options unchanged.
 * Throws a SettingError if a setting is invalid.
 */
export function culvertOptions(yours: SentryOptions = {}): SentryOptions {
  const current = settings();
  if (process.env.NEXT_PHASE === "phase-production-build") return yours;
  // Without a DSN too: error pages quote the request id, which is in the proxy's log.
  sendServerTiming(
    ...(process.env.CULVERT_BROWSER_SETTINGS !== "off" ? [settingsMetrics(current)] : []),
    ...(process.env.CULVERT_PAGE_TRACE !== "off" ? [traceMetrics] : []),
  );
  // And SIGTERM must end the process.
  if (process.env.CULVERT_SHUTDOWN !== "off") flushOnShutdown();
  // And one client's flood must not delay others.
  if (process.env.CULVERT_FAIR_QUEUE !== "off") queueFairly();
  // And open pages must find the release that they came from.
  tellDeploymentId();
  if (!current.dsn && !yours.dsn) return yours;
  return serverOptions(current, yours);
}
