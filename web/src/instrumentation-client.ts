import { captureRouterTransitionStart, init } from "@sentry/nextjs";
import { watchDeliveries } from "./telemetry/deliveries";
import { browserOptions } from "./telemetry/options";
import { readPublicSettings } from "./telemetry/public-settings";

const settings = readPublicSettings(document);
const client = settings && init(browserOptions(settings));
if (client) watchDeliveries(client);

export const onRouterTransitionStart = captureRouterTransitionStart;
