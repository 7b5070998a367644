import { makeFetchTransport } from "#sdk";
import { noteDocumentRequest, notePageRequest, pageRequestId } from "../errors/request-id.js";
import { culvertIntegration } from "../integration.js";
import { queueNote, withOfflineQueue } from "../send/offline-queue.js";
import { recordingOutcomes } from "../send/recording-transport.js";
import type { SentryOptions } from "../sentry-options.js";
import {
  type BrowserSettings,
  mayHideSettings,
  readBrowserSettings,
  readRequestId,
} from "../settings/browser-settings.js";
import { defaults } from "../settings/defaults.js";
import { skipStaleTrace } from "../trace/cached-page.js";
import { startLater } from "./late.js";
import { joined, sharedOptions, withIntegration } from "./shared.js";

/**
 * Takes the app's options for `Sentry.init` and returns them with ours. Without settings from the server, filters and scrubbing stay; the DSN and the
 * tunnel are the app's. If the browser hides the settings, the options have no DSN, and the SDK starts when the settings have been requested.
 */
export function culvertOptions(yours: SentryOptions = {}): SentryOptions {
  if (process.env.CULVERT_PAGE_TRACE !== "off") skipStaleTrace(performance);
  if (process.env.CULVERT_BROWSER_SETTINGS === "off") return browserOptions({}, yours);
  noteDocumentRequest(readRequestId(performance));
  const settings = readBrowserSettings(performance);
  if (settings || !mayHideSettings(performance)) return browserOptions(settings ?? {}, yours);
  startLater((late = {}) => browserOptions(late, yours));
  return { ...browserOptions({ tunnelPath: defaults.TUNNEL_PATH }, yours), dsn: undefined };
}

/** Takes the settings from the server and the app's options; returns the browser's options. Trace headers go to the own origin only (SDK default). */
export function browserOptions(settings: BrowserSettings, yours: SentryOptions): SentryOptions {
  const integration = culvertIntegration(settings.region, {
    addRequestId: (event) => ({ ...event, tags: { ...event.tags, request_id: pageRequestId() } }),
    noteBreadcrumb: ({ category }, hint) => category === "fetch" && notePageRequest(hint ?? {}),
  });
  const ours = {
    ...sharedOptions(settings),
    ...(settings.dsn && { dsn: settings.dsn }),
    ...(settings.tracesSampleRate !== undefined && { tracesSampleRate: settings.tracesSampleRate }),
    ...(settings.tunnelPath && { tunnel: settings.tunnelPath }),
    // Envelopes need no session; the proxy would drop the cookies anyway.
    transportOptions: { fetchOptions: { credentials: "omit" as const } },
  };
  const make = (yours.transport ?? makeFetchTransport) as typeof makeFetchTransport;
  return {
    ...joined(ours, yours),
    integrations: withIntegration(integration, withoutSessions, yours.integrations),
    transport: process.env.CULVERT_OFFLINE_QUEUE !== "off" ? withOfflineQueue(recorded(make)) : recorded(make),
  };
}

function withoutSessions<T extends { name: string }>(defaults: T[]): T[] {
  return process.env.CULVERT_SESSIONS === "off" ? defaults.filter(({ name }) => name !== "BrowserSession") : defaults;
}

function recorded(make: typeof makeFetchTransport): typeof makeFetchTransport {
  if (process.env.CULVERT_SEND_OUTCOMES !== "on") return make;
  return recordingOutcomes(make, process.env.CULVERT_OFFLINE_QUEUE !== "off" ? queueNote : undefined);
}
