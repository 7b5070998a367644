import { captureException, getClient, init } from "#sdk";
import type { SentryOptions } from "../sentry-options.js";
import { type BrowserSettings, fetchBrowserSettings } from "../settings/browser-settings.js";

const MECHANISM = { handled: false, type: "auto.browser.culvert" };

/**
 * Requests the settings, and starts the SDK with what `optionsFor` makes of them, unless the app has started it with a DSN. Uncaught errors until
 * then are captured after that.
 */
export async function startLater(optionsFor: (settings: BrowserSettings | undefined) => SentryOptions): Promise<void> {
  const early: unknown[] = [];
  const note = (event: Event) => {
    const { error, reason } = event as ErrorEvent & PromiseRejectionEvent;
    early.push(reason ?? error);
  };
  for (const type of ["error", "unhandledrejection"]) addEventListener(type, note);
  const settings = await fetchBrowserSettings();
  for (const type of ["error", "unhandledrejection"]) removeEventListener(type, note);
  const options = optionsFor(settings);
  if (!options.dsn || getClient()?.getDsn()) return;
  init(options);
  for (const error of early) captureException(error, { mechanism: MECHANISM });
}
