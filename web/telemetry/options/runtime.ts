import { tagWithRequest } from "../errors/event-id.js";
import { sampler } from "../filter/sampling.js";
import { culvertIntegration } from "../integration.js";
import type { SentryOptions } from "../sentry-options.js";
import type { Settings } from "../settings/settings.js";
import { propagationTargets } from "../trace/propagation.js";
import { joined, sharedOptions, withIntegration } from "./shared.js";

/**
 * Takes the settings, the app's options, a function that adapts the SDK's default integrations, and options of ours for one runtime; returns
 * the options that Node and Next's edge runtime have alike.
 */
export function runtimeOptions(
  settings: Settings,
  yours: SentryOptions,
  adapt: Parameters<typeof withIntegration>[1],
  more: object = {},
): SentryOptions {
  const integration = culvertIntegration(settings.region, { addRequestId: tagWithRequest });
  const ours = {
    ...sharedOptions(settings),
    dsn: settings.dsn?.public,
    ...(settings.serverTunnel && { tunnel: settings.serverTunnel.href }),
    tracePropagationTargets: propagationTargets(settings.tracePropagationTargets),
    ...more,
  };
  return {
    ...joined(ours, yours),
    tracesSampler: sampler(yours.tracesSampler ?? yours.tracesSampleRate ?? settings.tracesSampleRate),
    integrations: withIntegration(integration, adapt, yours.integrations),
  } as SentryOptions;
}
