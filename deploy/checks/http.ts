import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect, isIP } from "node:net";
import { text } from "node:stream/consumers";
import { type TLSSocket, connect as tlsConnect } from "node:tls";
import { SILENT, untraced } from "./ingest.ts";

const TIMEOUT_MS = 10_000;

interface Connection {
  host: string;
  port: number;
  /** What is served, for SNI and the Host header: inside the stack's network another name and port. */
  name: string;
  /** Whether connections begin with the PROXY protocol. */
  proxyProtocol?: boolean;
}

/** Where the proxy answers, and the name that it serves. */
export interface Target extends Connection {
  publicPort: number;
  basePath: string;
  tunnelPath: string;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Opens a TLS connection to the target without verifying its certificate. Rejects if there is none. */
export function openTls({ host, port, name, proxyProtocol }: Connection): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: TIMEOUT_MS }).on("error", reject);
    socket.on("timeout", () => socket.destroy(new Error("timed out")));
    // https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, 2.1: the connection's own address is used.
    if (proxyProtocol) socket.write("PROXY UNKNOWN\r\n");
    const secure = tlsConnect({ socket, servername: isIP(name) ? "" : name, rejectUnauthorized: false });
    secure.once("secureConnect", () => resolve(secure)).on("error", reject);
    secure.once("close", () => reject(new Error("connection closed during the TLS handshake")));
  });
}

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Sends one request to the target, whatever its certificate, and returns the answer. Rejects without one. */
export async function request(target: Target, path: string, sent: Sent = {}): Promise<Answer> {
  const socket = await openTls(target);
  const headers = { Host: target.publicPort === 443 ? target.name : `${target.name}:${target.publicPort}` };
  return exchange({ createConnection: () => socket, path, headers }, sent);
}

/** Sends one request and returns the answer; no redirect is followed. Rejects without an answer, or after `TIMEOUT_MS`. */
export function exchange(options: RequestOptions & { ca?: string }, sent: Sent = {}): Promise<Answer> {
  const own = { "User-Agent": "culvert-doctor", Connection: "close", ...untraced() };
  const headers = { ...options.headers, ...sent.headers, ...own };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const send = options.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = send({ ...options, method: sent.method, signal, headers }, (response) => {
      const answer = { status: response.statusCode ?? 0, headers: response.headers };
      text(response).then((body) => resolve({ ...answer, body }), reject);
    });
    outgoing.on("upgrade", ({ statusCode }, socket) => {
      socket.destroy();
      reject(new Error(`status ${statusCode}`));
    });
    const why = () => new Error(outgoing.socket?.connecting === false ? SILENT : "timed out");
    outgoing.on("error", (error) => reject(signal.aborted ? why() : error)).end(sent.body);
  });
}
