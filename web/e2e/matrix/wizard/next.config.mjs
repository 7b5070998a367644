import { withSentryConfig } from "@sentry/nextjs";
import createNextIntlPlugin from "next-intl/plugin";

/** @type {import('next').NextConfig} */
const nextConfig = { output: "standalone", experimental: { turbopackFileSystemCacheForBuild: false } };

export default withSentryConfig(createNextIntlPlugin()(nextConfig), {
  org: "example",
  project: "shop",
  silent: !process.env.CI,
  widenClientFileUpload: true,
  tunnelRoute: "/monitoring",
});
