import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect as connectH2, constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from "node:http2";
import { type Agent, request as httpsRequest } from "node:https";
import { connect as connectPlain } from "node:net";
import { buffer } from "node:stream/consumers";
import { type ConnectionOptions, connect } from "node:tls";

export interface Request {
  method?: string;
  path: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  /** The name asked for in TLS and in Host; default localhost. */
  host?: string;
  /** The client IP that a proxy that trusts X-Forwarded-For sees. */
  client?: string;
}
export const headersOf = ({ client, headers }: Partial<Request>) => ({
  ...(client && { "x-forwarded-for": client }),
  ...headers,
});

export type Client = (port: number, request: Request, agent?: Agent) => Promise<Response>;

/** More than the proxy passes on. */
const maxHeaderSize = 1 << 17;

/** `headers` are Node's: lower-case names, repeated ones joined. */
export interface Response {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  bytes: Buffer;
  /** Over HTTP/2, the headers of a 103 before it. */
  hints?: IncomingHttpHeaders | undefined;
}

/** Sends one request over HTTP/1.1, with TLS to a port or without to a URL, on a connection of its own unless there is an agent. */
export async function send(
  at: number | string,
  { method = "GET", path, body, host = "localhost", ...more }: Request,
  agent: Agent | false = false,
): Promise<Response> {
  const { hostname, port } = new URL(typeof at === "string" ? at : `https://127.0.0.1:${at}`);
  const request: typeof httpsRequest = typeof at === "string" ? httpRequest : httpsRequest;
  const outgoing = request({
    hostname,
    port,
    servername: host,
    method,
    path,
    agent,
    rejectUnauthorized: false,
    maxHeaderSize,
    headers: { host: `${host}:${port}`, ...headersOf(more) },
  });
  // `once` throws the first error; of later ones, the response's own counts.
  outgoing.on("error", () => undefined).end(body);
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  const bytes = await buffer(incoming);
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: bytes.toString(), bytes };
}

export function sendH2(
  port: number,
  { method = "GET", path, body, host = "localhost", ...more }: Request,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const session = connectH2(`https://127.0.0.1:${port}`, {
      servername: host,
      rejectUnauthorized: false,
      settings: { maxHeaderListSize: maxHeaderSize },
    });
    session.on("error", reject);
    const pseudo = { ":method": method, ":path": path, ":authority": `${host}:${port}` };
    const stream = session.request({ ...pseudo, ...headersOf(more) }, { endStream: body === undefined });
    let answer: IncomingHttpHeaders & IncomingHttpStatusHeader = {};
    const chunks: Buffer[] = [];
    let hints: IncomingHttpHeaders | undefined;
    stream.on("headers", (informational) => {
      hints = informational;
    });
    stream.on("response", (incoming) => {
      answer = incoming;
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    // A rejection before the whole body was read ends the stream; the response counts.
    stream.on("error", (error) => (stream.rstCode === constants.NGHTTP2_NO_ERROR ? undefined : reject(error)));
    stream.on("close", () => {
      session.close();
      const { ":status": status, ...rest } = answer;
      const bytes = Buffer.concat(chunks);
      if (status === undefined) reject(new Error(`no answer; the stream ended with code ${stream.rstCode}`));
      else resolve({ status, headers: rest, body: bytes.toString(), bytes, hints });
    });
    if (body !== undefined) stream.end(body);
  });
}

/** Fetches an address of a container. The next container may get it: neither a kept connection nor a wait for an answer may outlast this one. */
export const fetchOnce = (url: string): Promise<globalThis.Response> =>
  fetch(url, { headers: { connection: "close" }, signal: AbortSignal.timeout(20_000) });

/** Writes these bytes after this line of the PROXY protocol; returns what comes back until it closes, or has what `until` looks for. */
export async function raw(port: number, bytes: string, until?: RegExp, proxyLine: string | Buffer = "") {
  const plain = connectPlain(port, "127.0.0.1");
  await once(plain, "connect");
  plain.write(proxyLine);
  const socket = connect({ socket: plain, servername: "localhost", rejectUnauthorized: false });
  plain.on("error", (error) => socket.destroy(error));
  socket.write(bytes);
  let answer = "";
  for await (const chunk of socket.setEncoding("latin1")) {
    answer += chunk;
    if (until?.test(answer)) break;
  }
  return answer;
}

export async function shakeHands(port: number, options: ConnectionOptions) {
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false, ...options });
  await once(socket, "secureConnect");
  const [certificate, ticket] = [socket.getPeerCertificate(), socket.getTLSTicket()];
  socket.destroy();
  return { certificate, ticket };
}

export const peerCertificate = async (port: number, servername: string) =>
  (await shakeHands(port, { servername })).certificate;
