import { subscribe } from "node:diagnostics_channel";
import { Server, type ServerResponse } from "node:http";
import { close } from "@sentry/nextjs";

const FINISH_MS = 10_000;
const FLUSH_MS = 3_000;

const { close: closeServer } = Server.prototype;

// On the server, instrumentation and routes are separate bundles with a copy of this module each.
const STOPPING = Symbol.for("culvert.stopping");
const shared = globalThis as { [STOPPING]?: AbortController };

function controller(): AbortController {
  shared[STOPPING] ??= new AbortController();
  return shared[STOPPING];
}

/** Returns the signal that aborts when this process is told to stop, for code that must shorten its timeouts then. */
export function stopping(): AbortSignal {
  return controller().signal;
}

/** Returns whether this process was told to stop and should get no new requests. */
export function isStopping(): boolean {
  return stopping().aborted;
}

/**
 * Makes SIGTERM end the process with 0 once running requests are answered and their events are sent.
 * Next itself closes the server on SIGTERM and then calls `process.exit(143)`. It has no hook in between, so events are
 * flushed in that call.
 */
export function flushOnShutdown(): void {
  keepIdleConnections();
  acceptBeforeClosing();
  process.once("SIGTERM", () => {
    controller().abort();
    closeAfterResponse();
    const exit = process.exit.bind(process);
    const flushAndExit = () => void close(FLUSH_MS).finally(() => exit(0));
    process.exit = flushAndExit as typeof process.exit;
    setTimeout(flushAndExit, FINISH_MS).unref();
  });
}

/**
 * A closing server ends idle connections. The proxy may have just sent a form on one of them, and it never resends a form. So
 * idle connections stay open until the proxy closes them, within `keepalive_timeout` (proxy/templates/web-upstream.conf), or Node does after 5 s.
 */
function keepIdleConnections(): void {
  Server.prototype.closeIdleConnections = () => {};
}

/**
 * A server that stops listening resets connections that it has not accepted yet. A busy process has some: they came while it rendered. The
 * second turn of the event loop accepts those that came while the first one served others.
 */
function acceptBeforeClosing(): void {
  Server.prototype.close = function (this: Server, callback?: (error?: Error) => void) {
    setImmediate(() => setImmediate(() => closeServer.call(this, callback)));
    return this;
  };
}

/** A closed server still serves a busy keep-alive connection, which would end in the middle of a request when the process exits. */
function closeAfterResponse(): void {
  subscribe("http.server.request.start", (message) => {
    (message as { response: ServerResponse }).response.setHeader("connection", "close");
  });
}
