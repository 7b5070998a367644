import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect, isIP } from "node:net";
import { text } from "node:stream/consumers";
import { type TLSSocket, connect as tlsConnect } from "node:tls";
import { SILENT, untraced } from "./ingest.ts";

const TIMEOUT_MS = 10_000;
const timedOut = () => Object.assign(new Error("timed out"), { code: "ETIMEDOUT" });

interface Connection {
  host: string;
  port: number;
  /** For SNI and the Host header. */
  name: string;
  proxyProtocol?: boolean;
}

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

/** Opens a TLS connection without verifying the certificate. */
export function openTls({ host, port, name, proxyProtocol }: Connection): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: TIMEOUT_MS }).on("error", reject);
    socket.on("timeout", () => socket.destroy(timedOut()));
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

/** Whatever the certificate of the target. */
export async function request(target: Target, path: string, sent: Sent = {}): Promise<Answer> {
  const socket = await openTls(target);
  const headers = { Host: target.publicPort === 443 ? target.name : `${target.name}:${target.publicPort}` };
  return exchange({ createConnection: () => socket, path, headers }, sent);
}

/** Sends a request. Follows no redirect. Rejects without an answer. */
export function exchange(options: RequestOptions & { ca?: string }, sent: Sent = {}): Promise<Answer> {
  const agent = { "User-Agent": "culvert-doctor", Connection: "close", ...untraced() };
  const headers = { ...options.headers, ...sent.headers, ...agent };
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
    const silence = () => (outgoing.socket?.connecting === false ? new Error(SILENT) : timedOut());
    outgoing.on("error", (error) => reject(signal.aborted ? silence() : error)).end(sent.body);
  });
}
