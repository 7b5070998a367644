import { withSentryConfig } from "@sentry/nextjs/config";

/** @type {import('next').NextConfig} */
const nextConfig = {
  output: "standalone",
  basePath: "/shop",
  cacheComponents: true,
  partialPrefetching: true,
  experimental: { turbopackFileSystemCacheForBuild: false },
  transpilePackages: ["counter"],
};

export default withSentryConfig(nextConfig, {
  org: "example",
  project: "shop",
  silent: !process.env.CI,
  widenClientFileUpload: true,
  tunnelRoute: "/monitoring",
});
