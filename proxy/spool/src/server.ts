import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { Receive, Reply } from "./receive/receiver.ts";

/** What the routes use. */
export interface Handlers {
  receive: Receive;
  isHealthy: () => Promise<boolean>;
  metrics: () => string;
  /** Called with every reply to an envelope. */
  onReply: (reply: Reply) => void;
}

/** Longer than the proxy keeps an idle connection (4 s, proxy/templates/spool-upstream.conf), so that the proxy closes it. web sends again. */
const keepAliveTimeoutMs = 75_000;

const unwritten: Reply = { status: 503, body: { reason: "the envelope could not be written" } };

/**
 * The spool's only listener. POST receives an envelope on any path: Nginx passes on the path of the original request, and the
 * destination is in X-Spool-Destination. `GET /healthz` and `GET /metrics` are for probes.
 */
export function createSpoolServer({ receive, isHealthy, metrics, onReply }: Handlers): Server {
  const answer = async (request: IncomingMessage): Promise<[status: number, type: string, text: string]> => {
    if (request.method === "POST") {
      const reply = await receive(request).catch(() => unwritten);
      onReply(reply);
      return [reply.status, "application/json", reply.body ? JSON.stringify(reply.body) : ""];
    }
    if (request.url === "/metrics") return [200, "text/plain; version=0.0.4", metrics()];
    if (request.url !== "/healthz") return [404, "text/plain", "POST an envelope; GET /healthz, GET /metrics\n"];
    return (await isHealthy()) ? [200, "text/plain", "ok\n"] : [503, "text/plain", "the disk cannot be written\n"];
  };
  const listener: RequestListener = async (request, response) => {
    // Only a failing database ends here: watchDisk has logged it.
    const [status, type, text] = await answer(request).catch(() => [503, "text/plain", ""] as const);
    response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(text) }).end(text);
    // An unread body must not be parsed as the next request.
    if (!request.complete) request.resume();
  };
  const server = createServer(listener);
  server.keepAliveTimeout = keepAliveTimeoutMs;
  return server;
}

/** Accepts no more connections; resolves when the requests in progress have been answered, or after `timeoutMs`. */
export function closeServer(server: Server, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    // Connections that become idle later.
    setInterval(() => server.closeIdleConnections(), 50);
    setTimeout(resolve, timeoutMs);
  });
}
