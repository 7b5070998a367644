import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Agent, request as secureRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { app } from "./stack.ts";

type Answer = (response: ServerResponse) => void;

/** Starts a server on the loopback interface with paths of its own; the app answers all others. Returns its port, and how it is closed. */
export async function serveBeside(own: Record<string, Answer>): Promise<{ port: number; close(): void }> {
  const agent = new Agent({ rejectUnauthorized: false });
  const server = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
    const answer = own[incoming.url ?? ""];
    if (answer) return answer(outgoing);
    const headers = { ...incoming.headers, host: new URL(app.origin).host };
    if (headers.origin) headers.origin = app.origin;
    const forwarded = secureRequest(app.origin + incoming.url, { method: incoming.method, headers, agent });
    forwarded.on("response", (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

/** Posts to a WebDriver server and returns the value of its answer; throws its message. https://www.w3.org/TR/webdriver2/ */
export async function drive(port: number, path: string, body: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body: JSON.stringify(body) });
  const { value } = (await response.json()) as { value?: { error?: string; message?: string } };
  if (value?.error) throw new Error(value.message);
  return value;
}
