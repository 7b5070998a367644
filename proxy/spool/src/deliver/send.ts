import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { EnvelopeHeaders } from "../queue/store.ts";

/** What became of one attempt. */
export type Answer =
  | { status: number; headers: IncomingHttpHeaders }
  /** No answer. `unknown`: all of it went out, so that the ingest may have it all the same. */
  | { error: string; unknown: boolean };

/** Sends one body, in pieces, to an ingest. Rejects only for what can't even be asked. */
export type Send = (url: string, headers: EnvelopeHeaders, body: Buffer[]) => Promise<Answer>;

/** How long an ingest may be silent, connecting included: as long as in the tunnel. */
const timeout = 10_000;

/**
 * Returns what sends envelopes: with the tunnel's allow-list of headers and no other, over connections that are kept, and
 * over TLS only to whom these CAs vouch for (undefined: the public ones).
 */
export function sender(ca: string | undefined): Send {
  const agents = {
    "http:": { request: httpRequest, agent: new HttpAgent({ keepAlive: true, timeout }) },
    "https:": { request: httpsRequest, agent: new HttpsAgent({ keepAlive: true, timeout, ca }) },
  };
  return (url, headers, body) =>
    new Promise((resolve) => {
      const { request, agent } = agents[url.startsWith("https:") ? "https:" : "http:"];
      let unknown = false;
      const options = { method: "POST", agent, headers: allowed(headers, body), timeout };
      const outgoing = request(url, options, (response) => {
        response.resume().on("error", () => {});
        resolve({ status: response.statusCode ?? 0, headers: response.headers });
      });
      outgoing.on("finish", () => {
        unknown = true;
      });
      outgoing.on("timeout", () => outgoing.destroy(new Error("timeout")));
      outgoing.on("error", ({ code, message }: NodeJS.ErrnoException) => resolve({ error: code ?? message, unknown }));
      for (const piece of body) outgoing.write(piece);
      outgoing.end();
    });
}

function allowed({ contentType, contentEncoding, userAgent, clientIp }: EnvelopeHeaders, body: Buffer[]) {
  const named = {
    "Content-Type": contentType,
    "Content-Encoding": contentEncoding,
    "User-Agent": userAgent,
    "X-Forwarded-For": clientIp,
    "X-Sentry-Forwarded-For": clientIp,
  };
  const given = Object.entries(named).filter(([, value]) => value !== "");
  return { ...Object.fromEntries(given), "Content-Length": body.reduce((sum, { length }) => sum + length, 0) };
}
