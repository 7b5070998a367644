import { close } from "@sentry/nextjs";

const FINISH_MS = 10_000;
const FLUSH_MS = 3_000;

// On the server, instrumentation and routes are separate bundles with a copy of this module each.
const STOPPING = Symbol.for("culvert.stopping");

/** Whether this process was told to stop, and should get no new requests. */
export function isStopping(): boolean {
  return STOPPING in globalThis;
}

/**
 * Makes SIGTERM end the process with 0 once running requests are answered and their reports delivered.
 * Next itself closes the server on SIGTERM and then calls `process.exit(143)`; it has no hook in between, so that call is
 * where the reports are flushed.
 */
export function flushOnShutdown(): void {
  process.once("SIGTERM", () => {
    Object.assign(globalThis, { [STOPPING]: true });
    const exit = process.exit.bind(process);
    const flushAndExit = () => void close(FLUSH_MS).finally(() => exit(0));
    process.exit = flushAndExit as typeof process.exit;
    setTimeout(flushAndExit, FINISH_MS).unref();
  });
}
