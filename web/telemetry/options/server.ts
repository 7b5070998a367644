import { makeNodeTransport } from "@sentry/nextjs";
import { tagWithRequest } from "../errors/event-id.js";
import { sampler } from "../filter/sampling.js";
import { culvertIntegration } from "../integration.js";
import { serverEndpoints } from "../send/endpoints.js";
import { recordingOutcomes } from "../send/recording-transport.js";
import { fallbackTransport } from "../send/server-transport.js";
import type { SentryOptions } from "../sentry-options.js";
import type { Settings } from "../settings/settings.js";
import { propagationTargets } from "../trace/propagation.js";
import { serverIntegrations } from "./default-integrations.js";
import { joined, sharedOptions, withIntegration } from "./shared.js";

/** Takes the settings and the app's options; returns the options of the server's SDK. */
export function serverOptions(settings: Settings, yours: SentryOptions): SentryOptions {
  const integration = culvertIntegration(settings.region, { addRequestId: tagWithRequest });
  const ours = {
    ...sharedOptions(settings),
    dsn: settings.dsn?.public,
    ...(settings.serverTunnel && { tunnel: settings.serverTunnel.href }),
    tracePropagationTargets: propagationTargets(settings.tracePropagationTargets),
    // The SDK closes idle connections after 2 s, long before any ingest does, so no envelope is sent on a closing connection.
    transportOptions: { keepAlive: true },
  };
  return {
    ...joined(ours, yours),
    tracesSampler: sampler(yours.tracesSampler ?? yours.tracesSampleRate ?? settings.tracesSampleRate),
    integrations: withIntegration(integration, serverIntegrations, yours.integrations),
    transport: transportOf(settings, yours),
  } as SentryOptions;
}

function transportOf(settings: Settings, { transport }: SentryOptions) {
  const endpoints = process.env.CULVERT_SERVER_TRANSPORT === "off" ? [] : serverEndpoints(settings);
  const make = endpoints.length > 0 ? fallbackTransport(endpoints) : makeNodeTransport;
  const chosen = (transport ?? make) as typeof makeNodeTransport;
  return process.env.CULVERT_SEND_OUTCOMES === "on" ? recordingOutcomes(chosen) : chosen;
}
