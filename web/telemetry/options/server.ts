import { makeNodeTransport } from "#sdk";
import { serverEndpoints } from "../send/endpoints.js";
import { recordingOutcomes } from "../send/recording-transport.js";
import { fallbackTransport } from "../send/server-transport.js";
import type { SentryOptions } from "../sentry-options.js";
import type { Settings } from "../settings/settings.js";
import { serverIntegrations } from "./default-integrations.js";
import { runtimeOptions } from "./runtime.js";

/** Takes the settings and the app's options; returns the options of the server's SDK. */
export function serverOptions(settings: Settings, yours: SentryOptions): SentryOptions {
  // The SDK closes idle connections after 2 s, long before any ingest does, so no envelope is sent on a closing connection.
  const more = { transportOptions: { keepAlive: true } };
  return {
    ...runtimeOptions(settings, yours, serverIntegrations, more),
    transport: transportOf(settings, yours),
  } as SentryOptions;
}

function transportOf(settings: Settings, { transport }: SentryOptions) {
  const endpoints = process.env.CULVERT_SERVER_TRANSPORT === "off" ? [] : serverEndpoints(settings);
  const make = endpoints.length > 0 ? fallbackTransport(endpoints) : makeNodeTransport;
  const chosen = (transport ?? make) as typeof makeNodeTransport;
  return process.env.CULVERT_SEND_OUTCOMES === "on" ? recordingOutcomes(chosen) : chosen;
}
