import { captureEvent, captureException, getClient, init } from "#sdk";
import type { SentryOptions } from "../sentry-options.js";
import { type BrowserSettings, fetchBrowserSettings } from "../settings/browser-settings.js";

const MECHANISM = { handled: false, type: "auto.browser.culvert" };

/**
 * Requests the settings, and starts the SDK with what `optionsFor` makes of them, unless the app has started it with a DSN. Uncaught errors until
 * then are captured after that.
 */
export async function startLater(optionsFor: (settings: BrowserSettings | undefined) => SentryOptions): Promise<void> {
  const early: (() => void)[] = [];
  const note = (event: Event) => void early.push(() => capture(event as ErrorEvent & PromiseRejectionEvent));
  for (const type of ["error", "unhandledrejection"]) addEventListener(type, note);
  const settings = await fetchBrowserSettings();
  for (const type of ["error", "unhandledrejection"]) removeEventListener(type, note);
  const options = optionsFor(settings);
  if (!options.dsn || getClient()?.getDsn()) return;
  init(options);
  for (const captureNext of early) captureNext();
}

/**
 * Captures an uncaught error as the SDK's own handlers do, so that filters and groups are the same: a script of another origin has a message only.
 * https://docs.sentry.io/platforms/javascript/configuration/integrations/globalhandlers/
 */
function capture({ type, error, message, filename, lineno, colno, reason }: ErrorEvent & PromiseRejectionEvent): void {
  const thrown: unknown = type === "error" ? error : reason;
  if (Object(thrown) === thrown) {
    captureException(thrown, { mechanism: MECHANISM });
    return;
  }
  const frame = { filename: filename || location.href, lineno, colno, function: "?", in_app: true };
  const exception =
    type === "error"
      ? { type: "Error", value: String(error || message), stacktrace: { frames: [frame] } }
      : { type: "UnhandledRejection", value: `Non-Error promise rejection captured with value: ${String(reason)}` };
  captureEvent(
    { level: "error", exception: { values: [exception] } },
    { originalException: thrown, mechanism: MECHANISM },
  );
}
