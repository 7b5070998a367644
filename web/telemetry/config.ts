import { withSentryConfig } from "@sentry/nextjs/config";
import type { NextConfig } from "next";
import { OFF_BY_DEFAULT, PART_VARIABLES, type Part } from "./parts.js";

export type SentryBuildOptions = NonNullable<Parameters<typeof withSentryConfig>[1]>;

/** What `withCulvert` takes beside the app's own config. README.md has defaults and meanings. */
export type CulvertConfig = Partial<Record<Part, boolean>> & {
  /** `output: "standalone"`, which the image needs. Default true. */
  standalone?: boolean;
  /** NEXT_DEPLOYMENT_ID, if set, as `deploymentId` and build id. Default true. */
  deploymentId?: boolean;
  /** Asks for the strict headers, on every response that has no X-Security-Headers of the app's own. Default false. */
  strictHeaders?: boolean;
  /** Options for `withSentryConfig`; false if the app calls it itself. */
  sentry?: SentryBuildOptions | false;
};

type ConfigFunction = (...args: unknown[]) => NextConfig | Promise<NextConfig>;

/** Takes the app's Next config, an object or a function, and returns it for an app behind Culvert. Values of the app's own win. */
export function withCulvert<Config = NextConfig>(config?: Config, options: CulvertConfig = {}): Config {
  // All builds need one key, or open pages cannot call the server actions of the next release. Next reads it, but does not check it.
  const key = process.env.NEXT_SERVER_ACTIONS_ENCRYPTION_KEY;
  if (key && Buffer.from(key, "base64").length !== 32)
    throw new Error(
      "NEXT_SERVER_ACTIONS_ENCRYPTION_KEY does not hold 32 bytes in base64: make it with 'openssl rand -base64 32'",
    );
  const extended =
    typeof config === "function"
      ? async (...args: unknown[]) => extend(await (config as ConfigFunction)(...args), options)
      : extend((config ?? {}) as NextConfig, options);
  return (options.sentry === false ? extended : withSentryConfig(extended, sentryOptions(options.sentry))) as Config;
}

function extend(config: NextConfig, options: CulvertConfig): NextConfig {
  const { standalone = true, deploymentId = true, strictHeaders = false } = options;
  const id = deploymentId ? process.env.NEXT_DEPLOYMENT_ID : undefined;
  const isOn = (part: Part) => options[part] ?? !OFF_BY_DEFAULT.includes(part);
  const parts = Object.entries(PART_VARIABLES).map(([part, name]) => [name, isOn(part as Part) ? "on" : "off"]);
  return {
    ...(standalone && { output: "standalone" }),
    // Otherwise files such as _buildManifest.js would have the same address in all releases.
    ...(id && { deploymentId: id, generateBuildId: () => id }),
    ...config,
    // In the app's own bundles, so that the variables below are replaced there too.
    transpilePackages: [...(config.transpilePackages ?? []), "@culvert/nextjs"],
    env: { ...Object.fromEntries(parts), CULVERT_BASE_PATH: config.basePath, ...config.env },
    ...(strictHeaders && { headers: async () => [STRICT, ...((await config.headers?.()) ?? [])] }),
  };
}

const STRICT = { source: "/:path*", headers: [{ key: "X-Security-Headers", value: "strict" }] };

/** Source maps are uploaded if there is a token, and never left in the build. */
function sentryOptions(yours: SentryBuildOptions = {}): SentryBuildOptions {
  const authToken = yours.authToken ?? process.env.SENTRY_AUTH_TOKEN;
  return {
    silent: !authToken,
    telemetry: false,
    authToken,
    org: process.env.SENTRY_ORG,
    project: process.env.SENTRY_PROJECT,
    sentryUrl: process.env.SENTRY_URL,
    // The release is a run-time setting, because one image serves every environment. Source maps are found by debug id.
    release: { create: false },
    sourcemaps: authToken ? { deleteSourcemapsAfterUpload: true } : { disable: true },
    // An invalid token must fail the build.
    errorHandler: (error) => {
      throw error;
    },
    ...yours,
  };
}
