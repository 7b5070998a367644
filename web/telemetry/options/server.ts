import { httpIntegration, makeNodeTransport } from "#sdk";
import { serverEndpoints } from "../send/endpoints.js";
import { recordingOutcomes } from "../send/recording-transport.js";
import { fallbackTransport } from "../send/server-transport.js";
import type { SentryOptions } from "../sentry-options.js";
import type { Settings } from "../settings/settings.js";
import { runtimeOptions } from "./runtime.js";

/** Takes the settings and the app's options; returns the options of the server's SDK. */
export function serverOptions(settings: Settings, yours: SentryOptions): SentryOptions {
  const endpoints = process.env.CULVERT_SERVER_TRANSPORT === "off" ? [] : serverEndpoints(settings);
  const make = endpoints.length > 0 ? fallbackTransport(endpoints) : makeNodeTransport;
  const transport = (yours.transport ?? make) as typeof makeNodeTransport;
  // The SDK closes idle connections after 2 s, long before any ingest does, so no envelope is sent on a closing connection.
  const more = { transportOptions: { keepAlive: true } };
  return {
    ...runtimeOptions(settings, yours, withOwnHttp, more),
    transport: process.env.CULVERT_SEND_OUTCOMES === "on" ? recordingOutcomes(transport) : transport,
  } as SentryOptions;
}

/** Takes the default integrations of the server's SDK and returns them with our own configuration of the one for HTTP. */
function withOwnHttp<T extends { name: string }>(defaults: T[]): T[] {
  // The names differ between versions 10 and 11, and each ignores the other's.
  const options = {
    // Next starts the request's span itself.
    disableIncomingRequestSpans: true,
    // Bodies hold what people typed.
    ...(process.env.CULVERT_SCRUBBING !== "off" && { maxIncomingRequestBodySize: "none" }),
    ...(process.env.CULVERT_SESSIONS === "off" && { trackIncomingRequestsAsSessions: false, sessions: false }),
  };
  const http = httpIntegration(options as Parameters<typeof httpIntegration>[0]) as unknown as T;
  return [...defaults.filter(({ name }) => name !== http.name), http];
}
