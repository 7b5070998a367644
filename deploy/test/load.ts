import { Agent, request } from "node:https";
import { setTimeout as pause } from "node:timers/promises";

const maxConnections = 20;
const agent = new Agent({ keepAlive: true, maxSockets: maxConnections, rejectUnauthorized: false });

/** One request of the load, and the status that it must get. */
export interface LoadRequest {
  name: string;
  path: string;
  status: number;
  /** If set, the request is a POST. */
  body?: string;
  contentType?: string;
}

/** A request that did not get the expected response. */
export interface Failure {
  name: string;
  /** A status, or why the response is missing or incomplete. */
  outcome: string;
  /** From the response headers, if there were any. */
  requestId?: string;
  /** Whether the TLS handshake with a proxy had finished. */
  reached: boolean;
}

/** The result of a load: the number of requests by name, and the failed ones. */
export interface LoadResult {
  requests: Record<string, number>;
  failures: Failure[];
}

/** Sends one request to HTTPS_PORT of this machine; resolves with its failure, or with the response's body. */
export function send({ name, path, status, body, contentType = "text/plain" }: LoadRequest): Promise<Failure | string> {
  return new Promise((resolve) => {
    let reached = false;
    const fail = (outcome: string, requestId?: string) => resolve({ name, outcome, requestId, reached });
    const headers =
      body === undefined ? {} : { "content-type": contentType, "content-length": Buffer.byteLength(body) };
    const method = body === undefined ? "GET" : "POST";
    const outgoing = request(
      { host: "localhost", port: process.env.HTTPS_PORT, method, path, agent, headers },
      (response) => {
        const requestId = String(response.headers["x-request-id"]);
        const chunks: Buffer[] = [];
        response.on("data", (chunk) => chunks.push(chunk)).on("error", ({ message }) => fail(message, requestId));
        response.on("end", () =>
          response.statusCode === status
            ? resolve(Buffer.concat(chunks).toString())
            : fail(String(response.statusCode), requestId),
        );
      },
    );
    outgoing.on("socket", (socket) => {
      reached = outgoing.reusedSocket;
      if (!reached)
        socket.once("secureConnect", () => {
          reached = true;
        });
    });
    outgoing.on("error", ({ code, message }: NodeJS.ErrnoException) => {
      // A kept-alive connection may be closed just as a request is sent: browsers retry on another one, too.
      if (outgoing.reusedSocket && code === "ECONNRESET") resolve(send({ name, path, status, body, contentType }));
      else fail(code ?? message);
    });
    outgoing.end(body);
  });
}

/** Between a response and the next request: without it, two cores have no processor time left for `change`. */
const thinkTimeMs = 50;

/**
 * Sends requests in turn on all connections while `change` runs: some before it, some after it, at least `min` in total. Throws what
 * `change` throws.
 */
export async function load(
  requests: LoadRequest[],
  min: number,
  change: () => Promise<unknown>,
  connections = maxConnections,
): Promise<LoadResult> {
  const result: LoadResult = { requests: {}, failures: [] };
  const margin = Math.min(250, min / 4);
  let [sent, total] = [0, Number.POSITIVE_INFINITY];
  const sendInTurn = async () => {
    while (sent < total) {
      const next = requests[sent++ % requests.length] as LoadRequest;
      result.requests[next.name] = (result.requests[next.name] ?? 0) + 1;
      const response = await send(next);
      if (typeof response !== "string") result.failures.push(response);
      await pause(thinkTimeMs);
    }
  };
  const changed = (async () => {
    while (sent < margin) await pause(20);
    try {
      await change();
    } finally {
      total = Math.max(min, sent + margin);
    }
  })();
  await Promise.all([changed, ...Array.from({ length: connections }, sendInTurn)]);
  return result;
}

/** Closes the kept-alive connections. */
export const endLoad = () => agent.destroy();
