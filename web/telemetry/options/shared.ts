import { getClient } from "#sdk";
import { ignoredSpans } from "../filter/event-filters.js";
import type { culvertIntegration } from "../integration.js";
import type { SentryOptions } from "../sentry-options.js";

/** Substrings of headers that identify a client or a user: only TUNNEL_CLIENT_IP decides what an ingest learns of them. */
const CLIENT_HEADERS = { deny: ["forwarded", "-ip", "remote-", "via", "-user"] };

/** Set in full because version 11 collects cookies, bodies and the client's IP by default. filter/scrub.ts filters what the SDK does not. */
const DATA_COLLECTION = {
  userInfo: false,
  cookies: false,
  httpHeaders: { request: CLIENT_HEADERS, response: CLIENT_HEADERS },
  httpBodies: [],
  graphQL: { document: true, variables: false },
  genAI: { inputs: false, outputs: false },
  // Version 11 only.
  mcp: { inputs: false, outputs: false },
  queues: false,
  databaseQueryData: false,
  stackFrameVariables: false,
};

type Integrations = Extract<SentryOptions["integrations"], unknown[]>;

/** Takes the settings and returns the options that are the same on both sides. */
export function sharedOptions({ environment, release }: { environment?: string; release?: string }) {
  return {
    ...(environment && { environment }),
    ...(release && { release }),
    propagateTraceparent: true,
    ...(process.env.CULVERT_EVENT_FILTERS !== "off" && { ignoreSpans: ignoredSpans }),
    ...(process.env.CULVERT_SCRUBBING !== "off" && { dataCollection: DATA_COLLECTION }),
  };
}

/**
 * Returns the option that has our integration, the SDK's default ones as adapted, and the app's. Ours is also added after `Sentry.init` has run: in
 * `{ ...culvertOptions(), ...yours }` the app's `integrations` replaces this option. The SDK installs an integration once.
 */
export function withIntegration(
  integration: ReturnType<typeof culvertIntegration>,
  adapt: (defaults: Integrations) => Integrations,
  yours: SentryOptions["integrations"],
): (defaults: Integrations) => Integrations {
  const ours = integration as unknown as Integrations[number];
  queueMicrotask(() => getClient()?.addIntegration(ours));
  return (defaults) => {
    const adapted = [ours, ...adapt(defaults)];
    return typeof yours === "function" ? yours(adapted) : [...adapted, ...(yours ?? [])];
  };
}

type Values = Record<string, unknown>;

const isPlain = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns our values with those that the app sets. An object counts by its keys as well, except one that is a value: `{ allow: … }` or `{ deny: … }`. */
function byKey(ours: Values, yours: object): Values {
  const merged = { ...ours };
  for (const [key, value] of Object.entries(yours)) {
    if (value === undefined) continue;
    const isValue = !isPlain(value) || "allow" in value || "deny" in value;
    merged[key] = isValue || !isPlain(ours[key]) ? value : byKey(ours[key], value);
  }
  return merged;
}

/** Returns our options and the app's, where the app's value wins, but lists are joined, and `dataCollection` by key. */
export function joined<Ours extends object>(ours: Ours, yours: SentryOptions): Ours & SentryOptions {
  const both = { ...ours, ...yours } as Values;
  for (const name of ["ignoreSpans", "tracePropagationTargets"]) {
    const parts = [ours, yours].map((options) => (options as Values)[name]);
    if (parts.every(Array.isArray)) both[name] = parts.flat();
  }
  if ("dataCollection" in ours) both.dataCollection = byKey(ours.dataCollection as Values, yours.dataCollection ?? {});
  return both as Ours & SentryOptions;
}
