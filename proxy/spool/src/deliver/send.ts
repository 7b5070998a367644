import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { type EnvelopeHeaders, requestHeaders } from "../envelope-headers.ts";

/** The response to one attempt. */
export type Response =
  | { status: number; headers: IncomingHttpHeaders }
  /** No response. `mayHaveArrived`: the whole request was sent, so the ingest may have received it. */
  | { error: string; mayHaveArrived: boolean };

/** Sends one body, in chunks, to an ingest. Rejects only if no request can be made. */
export type Send = (url: string, headers: EnvelopeHeaders, body: Buffer[]) => Promise<Response>;

/** The longest times without any data from the ingest, and to connect: those of the tunnel. */
const [timeoutMs, connectTimeoutMs] = [10_000, 2_000];

/**
 * Returns a function that sends envelopes: with the headers of the tunnel's allow-list only, over keep-alive connections, and over
 * TLS only to hosts with a certificate of these CAs (undefined: the public ones).
 */
export function createSend(ca: string | undefined): Send {
  const agents = {
    "http:": { request: httpRequest, agent: new HttpAgent({ keepAlive: true, timeout: timeoutMs }) },
    "https:": { request: httpsRequest, agent: new HttpsAgent({ keepAlive: true, timeout: timeoutMs, ca }) },
  };
  return (url, headers, body) =>
    new Promise((resolve) => {
      const { request, agent } = agents[url.startsWith("https:") ? "https:" : "http:"];
      let mayHaveArrived = false;
      const length = body.reduce((sum, chunk) => sum + chunk.length, 0);
      const options = {
        method: "POST",
        agent,
        timeout: timeoutMs,
        headers: { ...requestHeaders(headers), "Content-Length": length },
      };
      const outgoing = request(url, options, (response) => {
        response.resume().on("error", () => {});
        resolve({ status: response.statusCode ?? 0, headers: response.headers });
      });
      outgoing.on("finish", () => {
        mayHaveArrived = true;
      });
      outgoing.on("socket", (socket) => {
        if (!socket.connecting) return;
        const waiting = setTimeout(() => outgoing.destroy(new Error("no connection")), connectTimeoutMs);
        for (const event of ["connect", "close"]) socket.once(event, () => clearTimeout(waiting));
      });
      outgoing.on("timeout", () => outgoing.destroy(new Error("timeout")));
      outgoing.on("error", ({ code, message }: NodeJS.ErrnoException) =>
        resolve({ error: code ?? message, mayHaveArrived }),
      );
      for (const chunk of body) outgoing.write(chunk);
      outgoing.end();
    });
}
