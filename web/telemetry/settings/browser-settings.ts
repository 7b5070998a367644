import type { Settings } from "./settings.js";

/** The settings that a browser may know, each listed, so that a new setting is private by default. Without Culvert, all are missing. */
export type BrowserSettings = {
  [Name in "dsn" | "environment" | "release" | "region" | "tunnelPath"]?: string | undefined;
} & { tracesSampleRate?: number | undefined };

/** The metric's name in the Server-Timing header: https://www.w3.org/TR/server-timing/ */
const METRIC = "culvert";

/**
 * Takes the settings and a request's id; returns the value of the Server-Timing header that carries them: only tunnel path and id when telemetry is
 * off, undefined with none. Scripts can read this header of their own document, whatever renders the page, Next's bare error document too.
 */
export function serverTiming(settings: Settings, requestId: string | undefined): string | undefined {
  const fields = {
    ...(settings.dsn && {
      dsn: settings.dsn.public,
      environment: settings.environment,
      release: settings.release,
      region: settings.region,
      traces: settings.tracesSampleRate,
    }),
    tunnel: settings.tunnelPath,
    request: requestId,
  };
  const given = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  if (given.length === 0) return undefined;
  // Percent-encoded, so the quoted text needs no escapes.
  return `${METRIC};desc="${new URLSearchParams(given)}"`;
}

type Page = Pick<Performance, "getEntriesByType">;

const navigation = (page: Page) => (page.getEntriesByType("navigation") as PerformanceNavigationTiming[])[0];

const description = (page: Page) => navigation(page)?.serverTiming?.find(({ name }) => name === METRIC)?.description;

/** Takes the page's `performance` and returns the id of its document's request, or undefined without a proxy. */
export const readRequestId = (page: Page): string | undefined =>
  new URLSearchParams(description(page)).get("request") ?? undefined;

/** Takes the page's `performance` and returns the settings that came with its document, or undefined without any. */
export const readBrowserSettings = (page: Page): BrowserSettings | undefined => settingsIn(description(page));

/**
 * Takes the page's `performance`; returns whether the browser may hide the header: WebKit does after a redirect from another origin
 * (https://github.com/WebKit/WebKit/pull/63781), Firefox over plain HTTP, and each browser if a service worker fetched the page.
 */
export function mayHideSettings(page: Page): boolean {
  const entry = navigation(page);
  return entry !== undefined && (!entry.serverTiming || entry.transferSize === 0 || entry.workerStart > 0);
}

/** Requests the settings from the proxy (proxy/templates/web-on/browser-settings.conf). Returns undefined if Culvert does not serve the page. */
export async function fetchBrowserSettings(): Promise<BrowserSettings | undefined> {
  const path = `${process.env.CULVERT_BASE_PATH || ""}/.culvert/settings`;
  const response = await fetch(path, { credentials: "omit" }).catch(() => undefined);
  const header = response?.headers.get("server-timing") ?? "";
  return settingsIn(new RegExp(`(?:^|, *)${METRIC};desc="([^"]*)"`).exec(header)?.[1]);
}

function settingsIn(text: string | undefined): BrowserSettings | undefined {
  const { dsn, tunnel: tunnelPath, traces, environment, release, region } = fieldsOf(text);
  if (!dsn && !tunnelPath) return undefined;
  const tracesSampleRate = traces === undefined ? undefined : Number(traces);
  return { dsn, tunnelPath, environment, release, region, tracesSampleRate };
}

const fieldsOf = (text: string | undefined): Record<string, string | undefined> =>
  Object.fromEntries(new URLSearchParams(text));
