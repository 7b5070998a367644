import { once } from "node:events";
import { Agent, request } from "node:https";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

/** With a body, it is a POST. */
export interface LoadRequest extends Record<"name" | "path", string> {
  status: number;
  body?: string;
  contentType?: string;
}

/** `outcome` is a status or an error. */
export interface Failure {
  name: string;
  outcome: string;
  reached: boolean;
}

/** Sends a request to HTTPS_PORT; resolves with its failure, or with the response's body. */
export async function send(loadRequest: LoadRequest): Promise<Failure | string> {
  const { name, path, status, body, contentType = "text/plain" } = loadRequest;
  const headers = body === undefined ? {} : { "content-type": contentType, "content-length": Buffer.byteLength(body) };
  const method = body === undefined ? "GET" : "POST";
  const outgoing = request({ host: "localhost", port: process.env.HTTPS_PORT, method, path, agent, headers });
  let [reached, answered] = [false, 0];
  outgoing.on("socket", (socket) => {
    if (outgoing.reusedSocket) reached = true;
    else socket.once("secureConnect", () => (reached = true));
  });
  // Also of what breaks after the answer has begun.
  outgoing.on("error", () => {}).end(body);
  try {
    const [response] = await once(outgoing, "response");
    answered = response.statusCode;
    const received = await text(response);
    return answered === status ? received : { name, outcome: String(answered), reached };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // A kept-alive connection may be closed just as a request is sent: browsers retry on another one, too.
    if (outgoing.reusedSocket && code === "ECONNRESET" && !answered) return send(loadRequest);
    return { name, outcome: code ?? message, reached };
  }
}

/** Resolves with an empty text if the event is accepted. */
export const postEvent = (message: string) =>
  send({
    name: "envelope",
    path: "/monitoring",
    status: 200,
    body: `{}\n{"type":"event"}\n{"message":"${message}"}\n`,
  });

/** Sends requests in turn while `change` runs, which needs the pauses. */
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
  const result = await change.finally(() => (isFinished = true));
  await Promise.all(all);
  return { result, requests: count, failures };
}

/** What a browser without JavaScript posts for the action of /test-events that redirects (303). */
export function redirectingForm(page: string): FormData {
  const action = page.split("<form").find((html) => html.includes(">Redirect from an action<")) ?? "";
  const form = new FormData();
  for (const [, name = "", value = ""] of action.matchAll(/name="(\$ACTION_[^"]*)"(?: value="([^"]*)")?/g))
    form.append(name, value.replaceAll("&quot;", '"'));
  return form;
}
