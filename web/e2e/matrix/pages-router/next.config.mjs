import { withSentryConfig } from "@sentry/nextjs";

/** @type {import('next').NextConfig} */
const nextConfig = {
  output: "standalone",
  trailingSlash: true,
  i18n: { locales: ["en", "de"], defaultLocale: "en" },
};

export default withSentryConfig(nextConfig, {
  org: "example",
  project: "shop",
  silent: !process.env.CI,
  widenClientFileUpload: true,
  tunnelRoute: "/monitoring",
});
