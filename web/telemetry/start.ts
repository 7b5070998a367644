import { init } from "#sdk";
import { culvertOptions } from "./index.js";
import type { SentryOptions } from "./sentry-options.js";
import { SettingError } from "./settings/setting-values.js";

/** Takes the app's options and starts the server's SDK. An invalid setting ends the process. */
export function start(yours: SentryOptions | (() => SentryOptions)): void {
  try {
    const options = culvertOptions(typeof yours === "function" ? yours() : yours);
    if (options.dsn) init(options);
    else console.log("culvert: telemetry is off, because SENTRY_DSN is not set");
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    console.error(`culvert: ${error.message}`);
    process.exit(1);
  }
}
