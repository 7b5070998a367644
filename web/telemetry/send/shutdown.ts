import { subscribe } from "node:diagnostics_channel";
import type { Server, ServerResponse } from "node:http";
import { Server as NetServer } from "node:net";
import { close, flush } from "@sentry/nextjs";
import { isStopping, markStopping } from "./stopping.js";

const FINISH_MS = 10_000;
const FLUSH_MS = 3_000;

const INSTALLED = Symbol.for("culvert.shutdown");
const shared = globalThis as { [INSTALLED]?: true };

type RequestStart = { server: Server; response: ServerResponse };

/**
 * Makes SIGTERM end the process with 0 once open requests are answered and their events are sent. Next's own handler calls `process.exit`
 * without waiting for either the events or a hook. So the image turns it off with NEXT_MANUAL_SIG_HANDLE=true, as Next documents for apps with a
 * handler of their own: https://nextjs.org/docs/app/guides/self-hosting#manual-graceful-shutdowns. Without that variable, events are only
 * flushed when the signal arrives; the last requests' events can be lost.
 */
export function flushOnShutdown(): void {
  if (shared[INSTALLED]) return;
  shared[INSTALLED] = true;
  const servers = new Set<Server>();
  subscribe("http.server.request.start", (message) => {
    const { server, response } = message as RequestStart;
    servers.add(server);
    // A closed server still serves a busy keep-alive connection, which would end in the middle of a request when the process exits.
    if (isStopping()) response.setHeader("connection", "close");
  });
  const stop = process.env.NEXT_MANUAL_SIG_HANDLE ? () => stopGracefully(servers) : () => void flush(FLUSH_MS);
  const onSignal = () => {
    if (isStopping()) return;
    markStopping();
    stop();
  };
  process.on("SIGTERM", onSignal);
  if (process.env.NEXT_MANUAL_SIG_HANDLE) process.on("SIGINT", onSignal);
}

function stopGracefully(servers: Set<Server>): void {
  const end = () => void close(FLUSH_MS).finally(() => process.exit(0));
  setTimeout(end, FINISH_MS).unref();
  Promise.all([...servers].map(finish)).then(end);
}

/** Stops listening, and resolves when all connections have ended. */
function finish(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // Connections that came while this process rendered are accepted in the next turns of the event loop; a closed server resets them.
    setImmediate(() =>
      setImmediate(() => {
        // Not http.Server's own method, which also ends idle connections: the proxy may have just sent a form on one, and never sends it twice.
        // They end when the proxy closes them, or Node does after `keepAliveTimeout`.
        NetServer.prototype.close.call(server, () => resolve());
      }),
    );
  });
}
