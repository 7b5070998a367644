import { Agent, request } from "node:https";
import { setTimeout as pause } from "node:timers/promises";

const port = Number(process.env.HTTPS_PORT);
const lanes = 20;
const agent = new Agent({ keepAlive: true, maxSockets: lanes, rejectUnauthorized: false });

/** What a visitor asks for, and the status that is right. */
export interface Visit {
  name: string;
  path: string;
  status: number;
  /** Given, it is a POST. */
  body?: string;
  contentType?: string;
}

/** A visit that did not end as it should have. */
export interface Failure {
  name: string;
  /** A status, or why there was no whole answer. */
  outcome: string;
  /** The answer's own, where it had begun. */
  requestId?: string;
  /** Whether a proxy was there to be asked: its TLS handshake was done. */
  reached: boolean;
}

/** What became of a load: visits by name, and those that failed. */
export interface Made {
  visits: Record<string, number>;
  failures: Failure[];
}

/** One visit; resolves with its failure, or with what was answered. */
export function visit({ name, path, status, body, contentType = "text/plain" }: Visit): Promise<Failure | string> {
  return new Promise((resolve) => {
    let reached = false;
    const fail = (outcome: string, requestId?: string) => resolve({ name, outcome, requestId, reached });
    const headers =
      body === undefined ? {} : { "content-type": contentType, "content-length": Buffer.byteLength(body) };
    const method = body === undefined ? "GET" : "POST";
    const outgoing = request({ host: "localhost", port, method, path, agent, headers }, (answer) => {
      const requestId = String(answer.headers["x-request-id"]);
      const pieces: Buffer[] = [];
      answer.on("data", (piece) => pieces.push(piece)).on("error", ({ message }) => fail(message, requestId));
      answer.on("end", () =>
        answer.statusCode === status
          ? resolve(Buffer.concat(pieces).toString())
          : fail(String(answer.statusCode), requestId),
      );
    });
    outgoing.on("socket", (socket) => {
      reached = outgoing.reusedSocket;
      if (!reached)
        socket.once("secureConnect", () => {
          reached = true;
        });
    });
    outgoing.on("error", ({ code, message }: NodeJS.ErrnoException) => {
      // A kept connection that ends just as a request leaves is no answer: a browser, too, takes another one.
      if (outgoing.reusedSocket && code === "ECONNRESET") resolve(visit({ name, path, status, body, contentType }));
      else fail(code ?? message);
    });
    outgoing.end(body);
  });
}

/**
 * Visits in turn, without pause from all lanes, while `change` goes on: some before it, some after it, and `least` in all.
 * Throws what `change` throws.
 */
export async function load(visits: Visit[], least: number, change: () => Promise<unknown>): Promise<Made> {
  const made: Made = { visits: {}, failures: [] };
  const around = Math.min(250, least / 4);
  let [begun, enough] = [0, Number.POSITIVE_INFINITY];
  const lane = async () => {
    while (begun < enough) {
      const next = visits[begun++ % visits.length] as Visit;
      made.visits[next.name] = (made.visits[next.name] ?? 0) + 1;
      const result = await visit(next);
      if (typeof result === "string") continue;
      made.failures.push(result);
      // Who finds nobody tries again, but not at once.
      if (!result.reached) await pause(50);
    }
  };
  const changed = (async () => {
    while (begun < around) await pause(20);
    try {
      await change();
    } finally {
      enough = Math.max(least, begun + around);
    }
  })();
  await Promise.all([changed, ...Array.from({ length: lanes }, lane)]);
  return made;
}

/** Ends the connections that are kept. */
export const endLoad = () => agent.destroy();
