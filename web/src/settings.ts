import { parseAddress, parseSettings as parseTelemetry, SettingError } from "@culvert/nextjs/settings";
import { defaults } from "./defaults";

/** Everything an operator can set for this app, except what `cache-handler.mjs` reads: Next loads that file by itself. */
export type Settings = ReturnType<typeof parseSettings>;

type Env = Record<string, string | undefined>;

/**
 * Takes the environment and returns the settings. An empty variable counts as unset, because compose passes unset variables on as
 * empty. Throws a SettingError for the first invalid setting.
 */
export function parseSettings(env: Env) {
  // Only the health check and the proxy use it.
  const fix = "use next.config's basePath, such as /shop";
  if (env.BASE_PATH && !/^(?:\/[\w-]{1,200})+$/.test(env.BASE_PATH))
    throw new SettingError("BASE_PATH", `'${env.BASE_PATH}' is not a path`, fix);
  return {
    ...parseTelemetry(env),
    /** The API that `/trace` calls while rendering. */
    upstreamUrl: upstreamUrl(env.UPSTREAM_URL || `http://127.0.0.1:${env.PORT || 3000}/api/echo`),
    /** The cache that all replicas share; undefined: each replica has its own. cache-handler.mjs connects to it. */
    cacheUrl: cacheUrl(env.CACHE_URL),
    /** Whether the console's pages exist. */
    console: onOff("CONSOLE", env.CONSOLE || defaults.CONSOLE),
  };
}

function upstreamUrl(value: string): URL {
  const parsed = parseAddress(value);
  if (parsed && /^https?:$/.test(parsed.protocol) && !parsed.username && !parsed.password) return parsed;
  const fix = "use an address such as https://api.example.com/v1/status";
  throw new SettingError("UPSTREAM_URL", "is not an http(s) address without credentials", fix);
}

function cacheUrl(value: string | undefined): URL | undefined {
  if (!value) return undefined;
  const parsed = parseAddress(value);
  if (parsed && /^rediss?:$/.test(parsed.protocol)) return parsed;
  // The value may hold a password.
  const fix = "use an address such as redis://cache:6379, or rediss:// for TLS";
  throw new SettingError("CACHE_URL", "is not the address of a cache", fix);
}

function onOff(name: string, value: string): boolean {
  if (value === "on" || value === "off") return value === "on";
  throw new SettingError(name, `'${value}' is neither`, "use on or off");
}

let loaded: Settings | undefined;

/** Returns the settings of this process. Throws a SettingError if one is invalid, always at startup (instrumentation.ts). */
export function settings(): Settings {
  loaded ??= parseSettings(process.env);
  return loaded;
}
