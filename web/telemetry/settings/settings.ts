import { defaults } from "./defaults.js";
import { dsn, label, origins, rate, serverTunnel, service, tunnelPath } from "./setting-values.js";

export { SettingError } from "./setting-values.js";

type Env = Record<string, string | undefined>;

/** What an operator can set, by environment variables. */
export type Settings = ReturnType<typeof parseSettings>;

/**
 * Takes the environment and returns the settings. An empty variable counts as unset, because compose passes unset variables on as empty.
 * Throws a SettingError for the first invalid setting.
 */
export function parseSettings(env: Env) {
  return {
    /** Where events are sent; undefined turns telemetry off. */
    dsn: dsn(env.SENTRY_DSN),
    environment: label("SENTRY_ENVIRONMENT", env.SENTRY_ENVIRONMENT, 64) ?? defaultEnvironment(env),
    release: label("SENTRY_RELEASE", env.SENTRY_RELEASE, 200),
    /** Where this deployment runs, if there are several: a tag on its events. */
    region: label("REGION", env.REGION, 64),
    /** Share of page views whose trace is recorded, 0 to 1. Errors are always sent. */
    tracesSampleRate: rate(
      "SENTRY_TRACES_SAMPLE_RATE",
      env.SENTRY_TRACES_SAMPLE_RATE || defaults.SENTRY_TRACES_SAMPLE_RATE,
    ),
    /** The path on the app's own origin to which browsers post envelopes. The proxy serves it. Undefined without a proxy: directly to the ingest. */
    tunnelPath: tunnelPath(env.SERVER_TUNNEL ? env.TUNNEL_PATH || defaults.TUNNEL_PATH : env.TUNNEL_PATH),
    /** Where this server sends its own envelopes: the proxy's internal listener. Undefined: directly to the ingest. */
    serverTunnel: serverTunnel(env.SERVER_TUNNEL),
    /** The fallback while there is no proxy; undefined without a spool. */
    spoolUpstream: service("SPOOL_UPSTREAM", env.SPOOL_UPSTREAM),
    /** The origins to which this server's outgoing calls send trace headers; no other host gets them. */
    tracePropagationTargets: origins("TRACE_PROPAGATION_TARGETS", env.TRACE_PROPAGATION_TARGETS),
  };
}

/** A developer's errors must not count as the site's. */
const defaultEnvironment = (env: Env) => (env.NODE_ENV === "development" ? "development" : defaults.SENTRY_ENVIRONMENT);

let loaded: Settings | undefined;

/** Returns the settings of this process. Throws a SettingError if one is invalid, always at startup (server.ts). */
export function settings(): Settings {
  loaded ??= parseSettings(process.env);
  return loaded;
}
