import { subscribe } from "node:diagnostics_channel";
import type { Server, ServerResponse } from "node:http";
import { Server as NetServer } from "node:net";
import { close, flush } from "#sdk";
import { isFirstCall } from "../once.js";
import { collectBackgroundWork } from "./background-work.js";
import { isStopping, markStopping } from "./stopping.js";

const FLUSH_MS = 3_000;
const FLUSH_INTERVAL_MS = 1_000;

/**
 * Makes SIGTERM end the process with 0 once open requests are answered, background work is done and their events are sent. The container's grace
 * period is the limit. Next's own handler resets idle connections and calls `process.exit` without waiting for events. So the image turns it off
 * with NEXT_MANUAL_SIG_HANDLE=true, as Next documents for apps with a handler of their own:
 * https://nextjs.org/docs/app/guides/self-hosting#manual-graceful-shutdowns. Without that variable, Next ends the process, and events are only
 * flushed when the signal arrives; the last requests' events can be lost.
 */
export function flushOnShutdown(): void {
  if (!isFirstCall("shutdown")) return;
  const servers = new Set<Server>();
  subscribe("http.server.request.start", (message) => {
    const { server, response } = message as { server: Server; response: ServerResponse };
    servers.add(server);
    // A closed server still serves a busy keep-alive connection, which would end in the middle of a request when the process exits.
    if (isStopping()) response.setHeader("connection", "close");
  });
  const backgroundWork = process.env.NEXT_MANUAL_SIG_HANDLE ? collectBackgroundWork() : undefined;
  const onSignal = () => {
    if (isStopping()) return;
    markStopping();
    void flush(FLUSH_MS);
    if (backgroundWork) void stopGracefully(servers, backgroundWork);
  };
  process.on("SIGTERM", onSignal);
  if (backgroundWork) process.on("SIGINT", onSignal);
}

async function stopGracefully(servers: Set<Server>, backgroundWork: () => Promise<void>): Promise<void> {
  // What takes longer than the grace period is killed: its events were sent until then.
  const flushing = setInterval(() => void flush(FLUSH_MS), FLUSH_INTERVAL_MS).unref();
  await Promise.all([...servers].map(finish));
  await backgroundWork();
  clearInterval(flushing);
  await close(FLUSH_MS);
  process.exit(0);
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
