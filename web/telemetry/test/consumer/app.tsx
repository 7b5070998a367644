// An app that uses the whole package as README.md says. peers.sh checks its types with each version of the peers.
import { culvertOptions } from "@culvert/nextjs";
import { onRouterTransitionStart } from "@culvert/nextjs/browser";
import { withCulvert } from "@culvert/nextjs/config";
import { type Caught, ErrorPage, GlobalErrorPage, NotFoundTrace, PagesErrorPage } from "@culvert/nextjs/errors";
import handler, { GET, isStopping } from "@culvert/nextjs/health";
import { noSendOutcomes, sendOutcomes, subscribe } from "@culvert/nextjs/outcomes";
import { publicUrl } from "@culvert/nextjs/public-url";
import { onRequestError, register } from "@culvert/nextjs/server";
import { parseSettings, settings } from "@culvert/nextjs/settings";
import * as Sentry from "@sentry/nextjs";
import type { Instrumentation, NextApiHandler, NextConfig, NextPage } from "next";
import { headers } from "next/headers";
import type { NextRequest } from "next/server";
import { useSyncExternalStore } from "react";

// instrumentation and instrumentation-client, by one line or with options
export const instrumentation: { register(): Promise<void>; onRequestError: Instrumentation.onRequestError } = {
  register: () => register(() => ({ tracePropagationTargets: [settings().release ?? ""] })),
  onRequestError,
};
export const navigation: (url: string, type: string) => void = onRouterTransitionStart;

// An app that calls Sentry.init itself
const yours: Sentry.NodeOptions = {
  tracesSampler: ({ name, inheritOrSampleWith }) => (name === "/" ? 1 : inheritOrSampleWith(0.1)),
  beforeSend: (event, hint) => (hint.originalException ? event : null),
  integrations: (defaults) => defaults.filter(({ name }) => name !== "Console"),
};
Sentry.init({ ...culvertOptions(), ...yours });
Sentry.init(culvertOptions({ ...yours, tracesSampleRate: 0.5, integrations: [Sentry.captureConsoleIntegration()] }));

// next.config: an object, a function, and that of withSentryConfig
const config: NextConfig = { poweredByHeader: false };
export const object: NextConfig = withCulvert(config, { offlineQueue: false, sentry: { org: "example" } });
export const made: (phase: string) => NextConfig = withCulvert((phase: string) => ({ env: { phase } }));
export const none: NextConfig = withCulvert();

// app/error, app/global-error, app/not-found, pages/_error, app/healthz, pages/api/healthz
export const pages: NextPage<{ statusCode: number }> = PagesErrorPage;
export const api: NextApiHandler = handler;
export const health: boolean | Promise<Response> = isStopping() || GET();

// middleware, a route handler, a server component, getServerSideProps and pages/api
export const address = (request: NextRequest): string => publicUrl(request).href;
export const origin = async (): Promise<string> => publicUrl(await headers()).origin;
export const ofApi: NextApiHandler = (request, response) => response.redirect(publicUrl(request).href);

export function Everything(caught: Caught) {
  const [outcome] = useSyncExternalStore(subscribe, sendOutcomes, noSendOutcomes);
  return (
    <>
      <ErrorPage {...caught} home="/shop" messages={{ retry: "Noch einmal" }} />
      <GlobalErrorPage error={new Error("failed")} retry={() => {}} />
      <NotFoundTrace />
      {outcome?.status} {parseSettings({}).tunnelPath}
    </>
  );
}
