import type * as sdk from "@sentry/nextjs";
import { captureRouterTransitionStart, init } from "#sdk";
import { culvertOptions } from "./options/browser.js";

// Without settings from the server nothing starts.
const options = culvertOptions();
if (options.dsn) init(options);

/** Next calls it when a navigation begins: `export { onRouterTransitionStart } from "@culvert/nextjs/browser"` in instrumentation-client. */
export const onRouterTransitionStart: typeof sdk.captureRouterTransitionStart = captureRouterTransitionStart;
