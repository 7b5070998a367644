import { init, makeNodeTransport } from "@sentry/nextjs";
import { serveErrorPageWithoutJs } from "./errors/error-page-without-js";
import { scrubbingTransport, scrubTraceNames } from "./filter/scrub-envelopes";
import { serverIntegrations } from "./integrations";
import { serverOptions } from "./options";
import { serverEndpoints } from "./send/endpoints";
import { recordingOutcomes } from "./send/recording-transport";
import { fallbackTransport } from "./send/server-transport";
import { flushOnShutdown } from "./send/shutdown";
import { SettingError, settings } from "./settings/settings";
import { skipUnsampledTracing } from "./trace/skip-unsampled";

/** Starts the server's SDK, once per process. An invalid setting ends the process with a one-line error and exit code 1. */
export function startTelemetry(): void {
  try {
    const current = settings();
    flushOnShutdown();
    serveErrorPageWithoutJs(current.dsn !== undefined);
    if (current.dsn) {
      const endpoints = serverEndpoints(current);
      const transport = endpoints.length > 0 ? fallbackTransport(endpoints) : makeNodeTransport;
      const options = serverOptions(current);
      const integrations = <T extends { name: string }>(defaults: T[]) =>
        serverIntegrations(options.integrations(defaults));
      scrubTraceNames(init({ ...options, integrations, transport: scrubbingTransport(recordingOutcomes(transport)) }));
      skipUnsampledTracing(options.tracesSampler);
    } else console.log("culvert web: telemetry is off, because SENTRY_DSN is not set");
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    console.error(`culvert web: ${error.message}`);
    process.exit(1);
  }
}
