import { join } from "node:path";
import { withSentryConfig } from "@sentry/nextjs/config";
import type { NextConfig } from "next";

const config: NextConfig = {
  output: "standalone",
  // Set in the Dockerfile for each release. Otherwise files such as _buildManifest.js would have the same address in all releases.
  generateBuildId: () => process.env.NEXT_DEPLOYMENT_ID || null,
  poweredByHeader: false,
  // An image's build reads no cache of an earlier one: writing it takes a third of the build's processor time.
  experimental: { turbopackFileSystemCacheForBuild: false },
  // Every page is rendered with the nonce, so the proxy may add the strict policy and headers (docs/your-app.md).
  headers: async () => [{ source: "/:path*", headers: [{ key: "X-Security-Headers", value: "strict" }] }],
  // The image optimizer needs a writable disk, which this container does not have. Its native library is excluded too.
  images: { unoptimized: true },
  outputFileTracingExcludes: { "**": ["node_modules/sharp/**", "node_modules/@img/**"] },
  // Metadata carries the browser's settings, so it must be in the head and not streamed after the page.
  htmlLimitedBots: /.*/,
  cacheHandler: join(import.meta.dirname, "cache-handler.mjs"),
  // Set to this folder; a lockfile in a parent folder would otherwise change the standalone output.
  outputFileTracingRoot: import.meta.dirname,
  turbopack: { root: import.meta.dirname },
};

// An optional build secret (Dockerfile). Without it no source maps are generated.
const authToken = process.env.SENTRY_AUTH_TOKEN;

export default withSentryConfig(config, {
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
});
