export * from "@sentry/nextjs";
