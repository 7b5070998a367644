import { tagWithRequest } from "../errors/event-id.js";
import { sampler } from "../filter/sampling.js";
import { culvertIntegration } from "../integration.js";
import type { SentryOptions } from "../sentry-options.js";
import type { Settings } from "../settings/settings.js";
import { propagationTargets } from "../trace/propagation.js";
import { joined, sharedOptions, withIntegration } from "./shared.js";

/** Takes the settings and the app's options; returns the options of the SDK in Next's edge runtime, which has no transport of ours. */
export function edgeOptions(settings: Settings, yours: SentryOptions): SentryOptions {
  const integration = culvertIntegration(settings.region, { addRequestId: tagWithRequest });
  const ours = {
    ...sharedOptions(settings),
    dsn: settings.dsn?.public,
    ...(settings.serverTunnel && { tunnel: settings.serverTunnel.href }),
    tracePropagationTargets: propagationTargets(settings.tracePropagationTargets),
  };
  return {
    ...joined(ours, yours),
    tracesSampler: sampler(yours.tracesSampler ?? yours.tracesSampleRate ?? settings.tracesSampleRate),
    integrations: withIntegration(integration, (defaults) => defaults, yours.integrations),
  } as SentryOptions;
}
