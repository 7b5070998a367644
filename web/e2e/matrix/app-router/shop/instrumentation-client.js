import * as Sentry from "@sentry/nextjs";

Sentry.init({
  dsn: "https://3a1b2c3d4e5f60718293a4b5c6d7e8f9@o4509632503087104.ingest.de.sentry.io/4509632503218257",
  integrations: [Sentry.replayIntegration()],
  tracesSampleRate: 1,
  replaysSessionSampleRate: 0.1,
  replaysOnErrorSampleRate: 1.0,
});

export const onRouterTransitionStart = Sentry.captureRouterTransitionStart;
