import type { Settings } from "./settings.js";

/** The settings that a browser may know. Every field is listed, so that a new setting is private by default. */
export type BrowserSettings = {
  dsn: string;
  environment: string;
  release: string | undefined;
  region: string | undefined;
  tracesSampleRate: number;
  tunnelPath: string | undefined;
};

/** The metric's name in the Server-Timing header: https://www.w3.org/TR/server-timing/ */
const METRIC = "culvert";

/**
 * Takes the settings and a request's id; returns the value of the Server-Timing header that carries them, only the id when telemetry is off,
 * or undefined with neither.
 * Scripts can read this header of their own document, at once and whatever renders the page: each router, prerendered or not, and Next's bare
 * error document too. So the app's layout need not carry the settings, and no second request has to fetch them.
 */
export function serverTiming(settings: Settings, requestId: string | undefined): string | undefined {
  const fields = {
    ...(settings.dsn && {
      dsn: settings.dsn.public,
      environment: settings.environment,
      release: settings.release,
      region: settings.region,
      traces: settings.tracesSampleRate,
      tunnel: settings.tunnelPath,
    }),
    request: requestId,
  };
  const given = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  if (given.length === 0) return undefined;
  // Percent-encoded, so the quoted text needs no escapes.
  return `${METRIC};desc="${new URLSearchParams(given)}"`;
}

function fieldsOf(page: Pick<Performance, "getEntriesByType">): URLSearchParams {
  const [navigation] = page.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return new URLSearchParams(navigation?.serverTiming?.find(({ name }) => name === METRIC)?.description);
}

/** Takes the page's `performance` and returns the id of its document's request, or undefined without a proxy. */
export function readRequestId(page: Pick<Performance, "getEntriesByType">): string | undefined {
  return fieldsOf(page).get("request") ?? undefined;
}

/** Takes the page's `performance` and returns the settings that came with its document, or undefined without any. */
export function readBrowserSettings(page: Pick<Performance, "getEntriesByType">): BrowserSettings | undefined {
  const fields = fieldsOf(page);
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
  };
}
