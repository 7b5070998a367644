import { captureEvent, captureException, getClient, init } from "#sdk";
import type { SentryOptions } from "../sentry-options.js";
import { type BrowserSettings, fetchBrowserSettings } from "../settings/browser-settings.js";

type Uncaught = ErrorEvent & PromiseRejectionEvent;

/**
 * Requests the settings, and starts the SDK with what `optionsFor` makes of them, unless the app has started it with a DSN. Uncaught errors until
 * then are captured after that.
 */
export async function startLater(optionsFor: (settings: BrowserSettings | undefined) => SentryOptions): Promise<void> {
  const early: Uncaught[] = [];
  const note = (event: Event) => void early.push(event as Uncaught);
  for (const type of ["error", "unhandledrejection"]) addEventListener(type, note);
  const settings = await fetchBrowserSettings();
  for (const type of ["error", "unhandledrejection"]) removeEventListener(type, note);
  const options = optionsFor(settings);
  if (!options.dsn || getClient()?.getDsn()) return;
  init(options);
  early.forEach(capture);
}

/** Captures as the SDK's own handlers do, so that filters know the event: a script of another origin has a message only. */
function capture({ type, error, reason, message, filename, lineno, colno }: Uncaught): void {
  const hint = { mechanism: { handled: false, type: "auto.browser.culvert" } };
  const isError = type === "error";
  const thrown: unknown = isError ? error : reason;
  if (Object(thrown) === thrown) {
    captureException(thrown, hint);
    return;
  }
  const frames = [{ filename: filename || location.href, lineno, colno }];
  const exception = isError
    ? { type: "Error", value: String(error || message), stacktrace: { frames } }
    : { type: "UnhandledRejection", value: `Non-Error promise rejection captured with value: ${String(reason)}` };
  captureEvent({ level: "error", exception: { values: [exception] } }, hint);
}
