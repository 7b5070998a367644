import { randomBytes } from "node:crypto";
import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect, isIP } from "node:net";
import { type TLSSocket, connect as tlsConnect } from "node:tls";

export const TIMEOUT_MS = 10_000;

/** Where the proxy answers, and the name that it serves. */
export interface Target {
  /** What to connect to: inside the stack's network this is not the name that is served. */
  host: string;
  port: number;
  /** For SNI and the Host header. */
  name: string;
  /** The port in the Host header; undefined when it is 443. */
  publicPort?: number | undefined;
  /** Whether connections begin with the PROXY protocol. */
  proxyProtocol?: boolean;
  basePath: string;
  tunnelPath: string;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** What trace ids of these programs begin with, by which the proxy's log shows their requests. */
export const TRACE_PREFIX = "d0c70500";

/** Returns the value of `sentry-trace` for a new trace that is not sampled: Sentry's SDK in the app records nothing of the request. */
export const unsampledTrace = () =>
  `${TRACE_PREFIX}${randomBytes(12).toString("hex")}-${randomBytes(8).toString("hex")}-0`;

/** Opens a TCP connection to the target that speaks the PROXY protocol where it must. */
export function open({ host, port, proxyProtocol }: Target) {
  const socket = connect({ host, port, timeout: TIMEOUT_MS });
  socket.on("timeout", () => socket.destroy(new Error("timed out")));
  // https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, 2.1: the connection's own address is used.
  if (proxyProtocol) socket.write("PROXY UNKNOWN\r\n");
  return socket;
}

/** Opens a TLS connection to the target without verifying its certificate. Rejects if there is none. */
export function openTls(target: Target, protocols: string[] = ["http/1.1"]): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = open(target).on("error", reject);
    const servername = isIP(target.name) ? "" : target.name;
    const secure = tlsConnect({ socket, servername, ALPNProtocols: protocols, rejectUnauthorized: false });
    secure.once("secureConnect", () => resolve(secure)).on("error", reject);
    secure.once("close", () => reject(new Error("connection closed during the TLS handshake")));
  });
}

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Sends one request to the target over TLS, without verifying its certificate, and returns the answer. Rejects without one. */
export async function request(target: Target, path: string, sent: Sent = {}): Promise<Answer> {
  const socket = await openTls(target);
  const host = target.publicPort ? `${target.name}:${target.publicPort}` : target.name;
  return exchange({ createConnection: () => socket, path, headers: { Host: host } }, sent);
}

/** Sends one request and returns the answer; no redirect is followed. Rejects without an answer, or after `TIMEOUT_MS`. */
export function exchange(
  options: RequestOptions & { ca?: string | undefined },
  { method = "GET", headers, body }: Sent = {},
): Promise<Answer> {
  const own = { "User-Agent": "culvert-doctor", "sentry-trace": unsampledTrace(), Connection: "close" };
  return new Promise((resolve, reject) => {
    const send = options.protocol === "https:" ? httpsRequest : httpRequest;
    const all = { ...own, ...options.headers, ...headers } as Record<string, string>;
    const sent = send({ ...options, method, signal: AbortSignal.timeout(TIMEOUT_MS), headers: all }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        if (text.length < 1_000_000) text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
      response.on("error", reject);
    });
    sent.on("error", reject).end(body);
  });
}

/**
 * Takes a DSN and returns an envelope that asks an ingest whether it accepts envelopes: a client report of no discarded events,
 * which Sentry neither stores nor bills. https://develop.sentry.dev/sdk/telemetry/client-reports/
 */
export function probeEnvelope(dsn: string): string {
  const now = new Date();
  const header = { dsn, sent_at: now.toISOString(), sdk: { name: "culvert.doctor", version: "1" } };
  const report = { timestamp: now.getTime() / 1000, discarded_events: [] };
  return [header, { type: "client_report" }, report].map((line) => JSON.stringify(line)).join("\n");
}
