import { join } from "node:path";
import { withCulvert } from "@culvert/nextjs/config";
import type { NextConfig } from "next";

const config: NextConfig = {
  // As create-next-app chooses.
  cacheComponents: true,
  partialPrefetching: true,
  poweredByHeader: false,
  // An image's build reads no cache of an earlier one: writing it takes a third of the build's processor time.
  experimental: { turbopackFileSystemCacheForBuild: false },
  // The image optimizer needs a writable disk, which this container does not have. Its native library is excluded too.
  images: { unoptimized: true },
  outputFileTracingExcludes: { "**": ["node_modules/sharp/**", "node_modules/@img/**"] },
  cacheHandler: join(import.meta.dirname, "cache-handler.mjs"),
  // Set to this folder; a lockfile in a parent folder would otherwise change the standalone output.
  outputFileTracingRoot: import.meta.dirname,
  turbopack: { root: import.meta.dirname },
  // It has no static shell (src/app/(console)/test-events/layout.tsx).
  headers: async () => [{ source: "/test-events", headers: [{ key: "X-Security-Headers", value: "nonce" }] }],
};

// The console lists what was sent.
export default withCulvert(config, { strictHeaders: true, sendOutcomes: true, sessions: false });
