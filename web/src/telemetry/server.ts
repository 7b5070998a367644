import { init, makeNodeTransport } from "@sentry/nextjs";
import { showPlainErrors } from "./errors/error-page-without-js";
import { scrubbing, scrubTraceNames } from "./filter/scrub-envelopes";
import { leaner } from "./integrations";
import { serverOptions } from "./options";
import { watched } from "./send/recording-transport";
import { doors, throughDoors } from "./send/server-transport";
import { flushOnShutdown } from "./send/shutdown";
import { SettingError, settings } from "./settings/settings";
import { spareUnsampled } from "./trace/skip-unsampled";

/** Starts the server's telemetry, once per process. A bad setting ends the process with one line and code 1. */
export function startTelemetry(): void {
  try {
    const current = settings();
    flushOnShutdown();
    showPlainErrors(current.dsn !== undefined);
    if (current.dsn) {
      const places = doors(current);
      const transport = places.length > 0 ? throughDoors(places) : makeNodeTransport;
      const options = serverOptions(current);
      const integrations = <T extends { name: string }>(defaults: T[]) => leaner(options.integrations(defaults));
      scrubTraceNames(init({ ...options, integrations, transport: scrubbing(watched(transport)) }));
      spareUnsampled(options.tracesSampler);
    } else console.log("culvert web: telemetry is off, because SENTRY_DSN is not set");
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    console.error(`culvert web: ${error.message}`);
    process.exit(1);
  }
}
