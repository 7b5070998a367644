import type { Settings } from "./settings.js";

/** The settings that a browser may know, and the id of its request. Every field is listed, so that a new setting is private by default. */
export type BrowserSettings = {
  dsn: string;
  environment: string;
  release: string | undefined;
  region: string | undefined;
  tracesSampleRate: number;
  tunnelPath: string | undefined;
  requestId: string | undefined;
};

/** The metric's name in the Server-Timing header: https://www.w3.org/TR/server-timing/ */
const METRIC = "culvert";

/**
 * Takes the settings and a request's id; returns the value of the Server-Timing header that carries them, or undefined when telemetry is off.
 * Scripts can read this header of their own document, at once and whatever renders the page: each router, prerendered or not, and Next's bare
 * error document too. So the app's layout need not carry the settings, and no second request has to fetch them.
 */
export function serverTiming(settings: Settings, requestId: string | undefined): string | undefined {
  if (!settings.dsn) return undefined;
  const fields = {
    dsn: settings.dsn.public,
    environment: settings.environment,
    release: settings.release,
    region: settings.region,
    traces: settings.tracesSampleRate,
    tunnel: settings.tunnelPath,
    request: requestId,
  };
  const given = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  // Percent-encoded, so the quoted text needs no escapes.
  return `${METRIC};desc="${new URLSearchParams(given)}"`;
}

/** Takes the page's `performance` and returns the settings that came with its document, or undefined without any. */
export function readBrowserSettings(page: Pick<Performance, "getEntriesByType">): BrowserSettings | undefined {
  const [navigation] = page.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  const text = navigation?.serverTiming?.find(({ name }) => name === METRIC)?.description;
  const fields = new URLSearchParams(text);
  const field = (name: string) => fields.get(name) ?? undefined;
  const dsn = field("dsn");
  if (!dsn) return undefined;
  return {
    dsn,
    environment: field("environment") ?? "production",
    release: field("release"),
    region: field("region"),
    tracesSampleRate: Number(field("traces") ?? 0),
    tunnelPath: field("tunnel"),
    requestId: field("request"),
  };
}
