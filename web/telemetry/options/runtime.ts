import { tagWithRequest } from "../errors/event-id.js";
import { sampler } from "../filter/sampling.js";
import { culvertIntegration } from "../integration.js";
import type { SentryOptions } from "../sentry-options.js";
import type { Settings } from "../settings/settings.js";
import { propagationTargets } from "../trace/propagation.js";
import { joined, sharedOptions, withIntegration } from "./shared.js";

/** For an app that has only a DSN in its code: the SDK's own defaults. */
const NO_DEFAULTS = { environment: undefined, tracesSampleRate: undefined };

/** Takes the settings, the app's options, and what Node has of its own; returns the options that Node and Next's edge runtime have alike. */
export function runtimeOptions(
  settings: Settings,
  yours: SentryOptions,
  adapt: Parameters<typeof withIntegration>[1] = (defaults) => defaults,
  more: object = {},
): SentryOptions {
  const integration = culvertIntegration(settings.region, { addRequestId: tagWithRequest });
  const { environment, tracesSampleRate } = settings.dsn ? settings : NO_DEFAULTS;
  const rate = yours.tracesSampler ?? yours.tracesSampleRate ?? tracesSampleRate;
  const ours = {
    ...sharedOptions({ environment, release: settings.release }),
    dsn: settings.dsn?.public,
    ...(settings.serverTunnel && { tunnel: settings.serverTunnel.href }),
    tracePropagationTargets: propagationTargets(settings.tracePropagationTargets),
    ...more,
  };
  return {
    ...joined(ours, yours),
    ...(rate !== undefined && { tracesSampler: sampler(rate) }),
    integrations: withIntegration(integration, adapt, yours.integrations),
  } as SentryOptions;
}
