import { join } from "node:path";
import { withSentryConfig } from "@sentry/nextjs/config";
import type { NextConfig } from "next";

const config: NextConfig = {
  output: "standalone",
  // Dockerfile sets it for each release. Next would else give the build's own files (_buildManifest.js) one address for all releases.
  generateBuildId: () => process.env.NEXT_DEPLOYMENT_ID || null,
  poweredByHeader: false,
  // Every page here is rendered with the nonce, so the proxy may send the strict policy and headers along (README).
  headers: async () => [{ source: "/:path*", headers: [{ key: "X-Security-Headers", value: "strict" }] }],
  // The image optimizer caches on disk, and this container has none to write to. Its native library stays out with it.
  images: { unoptimized: true },
  outputFileTracingExcludes: { "**": ["node_modules/sharp/**", "node_modules/@img/**"] },
  // Metadata carries the browser's settings, so it must be in the head, never streamed after the page.
  htmlLimitedBots: /.*/,
  cacheHandler: join(import.meta.dirname, "cache-handler.mjs"),
  // Pinned to this folder: a lockfile further up would otherwise move the standalone output.
  outputFileTracingRoot: import.meta.dirname,
  turbopack: { root: import.meta.dirname },
};

// Given as a build secret (Dockerfile), or not: then no source map is made at all.
const authToken = process.env.SENTRY_AUTH_TOKEN;

export default withSentryConfig(config, {
  silent: !authToken,
  telemetry: false,
  authToken,
  org: process.env.SENTRY_ORG,
  project: process.env.SENTRY_PROJECT,
  sentryUrl: process.env.SENTRY_URL,
  // One image for every environment: the release is a run-time setting. Source maps are found by debug id, not by release.
  release: { create: false },
  sourcemaps: authToken ? { deleteSourcemapsAfterUpload: true } : { disable: true },
  // A token that doesn't work must not pass for an upload.
  errorHandler: (error) => {
    throw error;
  },
});
