import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { Receiver, Reply } from "./receive/receiver.ts";

/** What the routes use. */
export interface Handlers {
  receiver: Receiver;
  isHealthy: () => Promise<boolean>;
  metrics: () => string;
  /** Called with every reply to an envelope. */
  onReply: (reply: Reply) => void;
}

/** Longer than the proxy (4 s, proxy/templates/spool.conf) and web keep an idle connection: the client must be the one that closes it. */
const keepAliveTimeoutMs = 75_000;

/**
 * The spool's only listener. POST receives an envelope on any path: Nginx passes on the path of the original request, and the
 * destination is in X-Spool-Destination. `GET /healthz` and `GET /metrics` are for probes.
 */
export function createSpoolServer({ receiver, isHealthy, metrics, onReply }: Handlers): Server {
  const receive = async (request: IncomingMessage): Promise<Reply> => {
    const reply: Reply = await receiver
      .receive(request)
      .catch(() => ({ status: 503, body: { reason: "the envelope could not be written" } }));
    onReply(reply);
    return reply;
  };
  const route = async (...[request, response]: Parameters<RequestListener>): Promise<void> => {
    const respond = (status: number, type: string, text: string) =>
      response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(text) }).end(text);
    if (request.method === "POST") {
      const { status, body } = await receive(request);
      respond(status, "application/json", JSON.stringify(body));
      // An unread body must not be parsed as the next request.
      if (!request.complete) request.resume();
    } else if (request.url === "/healthz") {
      const healthy = await isHealthy();
      respond(healthy ? 200 : 503, "text/plain", healthy ? "ok\n" : "the disk cannot be written\n");
    } else if (request.url === "/metrics") {
      respond(200, "text/plain; version=0.0.4", metrics());
    } else {
      respond(404, "text/plain", "POST an envelope; GET /healthz, GET /metrics\n");
    }
  };
  const server = createServer((request, response) => {
    // Only a failing database ends here; Disk has reported it.
    route(request, response).catch(() => response.writeHead(503).end());
  });
  server.keepAliveTimeout = keepAliveTimeoutMs;
  return server;
}

/** Accepts no more connections; resolves when the requests in progress have been answered, or after `timeoutMs`. */
export function closeServer(server: Server, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const closing = setInterval(() => server.closeIdleConnections(), 50);
    const done = () => {
      clearInterval(closing);
      resolve();
    };
    server.close(done);
    server.closeIdleConnections();
    setTimeout(done, timeoutMs).unref();
  });
}
