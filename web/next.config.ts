import { withSentryConfig } from "@sentry/nextjs/config";
import type { NextConfig } from "next";

const config: NextConfig = {
  output: "standalone",
  poweredByHeader: false,
  // The image optimizer caches on disk, and this container has none to write to. Its native library stays out with it.
  images: { unoptimized: true },
  outputFileTracingExcludes: { "**": ["node_modules/sharp/**", "node_modules/@img/**"] },
  // Metadata carries the browser's settings, so it must be in the head, never streamed after the page.
  htmlLimitedBots: /.*/,
  // Pinned to this folder: a lockfile further up would otherwise move the standalone output.
  outputFileTracingRoot: import.meta.dirname,
  turbopack: { root: import.meta.dirname },
};

export default withSentryConfig(config, {
  silent: true,
  telemetry: false,
  // One image for every environment: the release is a run-time setting, not the build's git revision.
  release: { create: false },
  sourcemaps: { disable: true },
});
