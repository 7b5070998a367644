import { subscribe } from "node:diagnostics_channel";
import { Server, type ServerResponse } from "node:http";
import { close } from "@sentry/nextjs";

const FINISH_MS = 10_000;
const FLUSH_MS = 3_000;

// On the server, instrumentation and routes are separate bundles with a copy of this module each.
const STOPPING = Symbol.for("culvert.stopping");
const shared = globalThis as { [STOPPING]?: AbortController };

function controller(): AbortController {
  shared[STOPPING] ??= new AbortController();
  return shared[STOPPING];
}

/** Aborts when this process is told to stop: what takes its time then has to hurry. */
export function stopping(): AbortSignal {
  return controller().signal;
}

/** Whether this process was told to stop, and should get no new requests. */
export function isStopping(): boolean {
  return stopping().aborted;
}

/**
 * Makes SIGTERM end the process with 0 once running requests are answered and their reports delivered.
 * Next itself closes the server on SIGTERM and then calls `process.exit(143)`; it has no hook in between, so that call is
 * where the reports are flushed.
 */
export function flushOnShutdown(): void {
  keepIdle();
  process.once("SIGTERM", () => {
    controller().abort();
    askNoMore();
    const exit = process.exit.bind(process);
    const flushAndExit = () => void close(FLUSH_MS).finally(() => exit(0));
    process.exit = flushAndExit as typeof process.exit;
    setTimeout(flushAndExit, FINISH_MS).unref();
  });
}

/**
 * A server that closes ends connections that look idle. The proxy may have sent a form on one of them that is not read yet, and
 * sends no form twice: it ends them itself, within `keepalive_timeout` (proxy/templates/web.conf), or Node does after 5 s.
 */
function keepIdle(): void {
  Server.prototype.closeIdleConnections = () => {};
}

/** Node goes on answering a connection that is never idle, although its server is closed: until it was cut in the middle. */
function askNoMore(): void {
  subscribe("http.server.request.start", (message) => {
    (message as { response: ServerResponse }).response.setHeader("connection", "close");
  });
}
