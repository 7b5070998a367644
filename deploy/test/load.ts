import { Agent, request } from "node:https";
import { setTimeout as pause } from "node:timers/promises";

const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

/** One request of the load, and the status that it must get. With a body, it is a POST. */
export interface LoadRequest extends Record<"name" | "path", string> {
  status: number;
  body?: string;
  contentType?: string;
}

/** A request that did not get the expected response: a status, or why it is missing or incomplete; whether it had reached a proxy. */
export interface Failure {
  name: string;
  outcome: string;
  reached: boolean;
}

/** Sends one request to HTTPS_PORT of this machine; resolves with its failure, or with the response's body. */
export function send(one: LoadRequest): Promise<Failure | string> {
  const { name, path, status, body, contentType = "text/plain" } = one;
  return new Promise((resolve) => {
    let reached = false;
    const fail = (outcome: string) => resolve({ name, outcome, reached });
    const headers =
      body === undefined ? {} : { "content-type": contentType, "content-length": Buffer.byteLength(body) };
    const method = body === undefined ? "GET" : "POST";
    const outgoing = request({ host: "localhost", port: process.env.HTTPS_PORT, method, path, agent, headers });
    outgoing.on("response", async (response) => {
      try {
        const received = Buffer.concat(await response.toArray()).toString();
        if (response.statusCode === status) resolve(received);
        else fail(String(response.statusCode));
      } catch (error) {
        fail(String(error));
      }
    });
    outgoing.on("socket", (socket) => {
      if (outgoing.reusedSocket) reached = true;
      else socket.once("secureConnect", () => (reached = true));
    });
    outgoing.on("error", ({ code, message }: NodeJS.ErrnoException) => {
      // A kept-alive connection may be closed just as a request is sent: browsers retry on another one, too.
      if (outgoing.reusedSocket && code === "ECONNRESET") resolve(send(one));
      else fail(code ?? message);
    });
    outgoing.end(body);
  });
}

/** Sends requests in turn while `change` runs, which needs the pauses; returns its result, the number of requests by name, and failures. */
export async function load<Result>(
  requests: LoadRequest[],
  change: Promise<Result>,
  { connections, pauseMs = 50 }: { connections: number; pauseMs?: number },
): Promise<{ result: Result; requests: Record<string, number>; failures: Failure[] }> {
  const count: Record<string, number> = {};
  const failures: Failure[] = [];
  let [sent, isFinished] = [0, false];
  const sendInTurn = async () => {
    while (!isFinished) {
      const next = requests[sent++ % requests.length] as LoadRequest;
      count[next.name] = (count[next.name] ?? 0) + 1;
      const response = await send(next);
      if (typeof response !== "string") failures.push(response);
      await pause(pauseMs);
    }
  };
  const all = Array.from({ length: connections }, sendInTurn);
  const result = await change.finally(() => {
    isFinished = true;
  });
  await Promise.all(all);
  return { result, requests: count, failures };
}

/** Closes the kept-alive connections. */
export const endLoad = () => agent.destroy();
