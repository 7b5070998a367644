import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { Receiver, Reply } from "./receive/receiver.ts";

/** What the routes need. */
export interface Parts {
  receiver: Receiver;
  isWell: () => Promise<boolean>;
  metrics: () => string;
  /** Called with every answer to an envelope. */
  answered: (reply: Reply) => void;
}

/** Longer than the proxy keeps an idle connection (4 s, proxy/entrypoint.d/35-spool.sh) and web its own: the side that sends must be the one that closes. */
const idleConnection = 75_000;

/**
 * The spool's only listener. POST takes an envelope whatever the path: Nginx hands over with the path it was asked for, and
 * where the envelope goes stands in X-Spool-Destination. `GET /healthz` and `GET /metrics` are for probes.
 */
export function serve({ receiver, isWell, metrics, answered }: Parts): Server {
  const take = async (request: IncomingMessage): Promise<Reply> => {
    const reply: Reply = await receiver
      .take(request)
      .catch(() => ({ status: 503, body: { reason: "it could not be written" } }));
    answered(reply);
    return reply;
  };
  const route = async (...[request, response]: Parameters<RequestListener>): Promise<void> => {
    const answer = (status: number, type: string, text: string) =>
      response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(text) }).end(text);
    if (request.method === "POST") {
      const { status, body } = await take(request);
      answer(status, "application/json", JSON.stringify(body));
      // What was refused unread must not be read as the next request.
      if (!request.complete) request.resume();
    } else if (request.url === "/healthz") {
      const well = await isWell();
      answer(well ? 200 : 503, "text/plain", well ? "ok\n" : "the disk takes nothing\n");
    } else if (request.url === "/metrics") {
      answer(200, "text/plain; version=0.0.4", metrics());
    } else {
      answer(404, "text/plain", "POST takes an envelope; GET /healthz, GET /metrics\n");
    }
  };
  const server = createServer((request, response) => {
    // Only a database that can't be read gets here, and it has been spoken of.
    route(request, response).catch(() => response.writeHead(503).end());
  });
  server.keepAliveTimeout = idleConnection;
  return server;
}

/** Accepts nothing more; resolves when requests underway have been answered, or after `timeoutMs` ms. */
export function closed(server: Server, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const kept = setInterval(() => server.closeIdleConnections(), 50);
    const done = () => {
      clearInterval(kept);
      resolve();
    };
    server.close(done);
    server.closeIdleConnections();
    setTimeout(done, timeoutMs).unref();
  });
}
