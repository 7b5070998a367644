/**
 * Replaces the ingest, or another server, in tests: on PORT or 9000 (and 9443 with TLS, if CERT names a pair CERT.crt
 * and CERT.key) it records every request and answers as the test says through port 9001 (client.ts). /upstream returns
 * the request's headers.
 */
import { createHash } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttp, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createHttps } from "node:https";
import type { Duplex } from "node:stream";
import type { Answer, RecordedRequest } from "./types.ts";

const recorded: RecordedRequest[] = [];
/** `recorded` for each request, `proceed` for held answers. */
const events = new EventEmitter().setMaxListeners(0);
const ok: Answer = { status: 200, headers: { "content-type": "application/json" }, body: "{}" };
let configured = ok;

const bodyOf = async (request: IncomingMessage) => Buffer.concat(await request.toArray());

const record: RequestListener = async (request, response) => {
  // An upload that a client cuts off is no request.
  const body = await bodyOf(request).catch(() => undefined);
  if (body === undefined) return;
  const { method = "", url = "", rawHeaders } = request;
  recorded.push({ method, url, rawHeaders, body: body.toString("base64"), port: request.socket.remotePort });
  events.emit("recorded");
  const answer = configured.only && !body.includes(configured.only) ? ok : configured;
  if (url === "/upstream") response.end(JSON.stringify(request.headers));
  else if (answer.instead === "reset") request.socket.destroy();
  else if (answer.instead === "raw") request.socket.end(answer.body);
  else if (answer.instead !== "hang") {
    response.writeHead(answer.status, answer.headers);
    response.write(answer.body);
    if (answer.rest !== undefined) await once(events, "proceed");
    response.end(answer.rest);
  }
};

/** A WebSocket server as seen by a proxy: accepts the handshake and echoes what it receives. */
function echo({ method = "", url = "", rawHeaders, headers }: IncomingMessage, socket: Duplex): void {
  recorded.push({ method, url, rawHeaders, body: "" });
  // https://www.rfc-editor.org/rfc/rfc6455#section-4.2.2: HAProxy checks it.
  const key = `${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = `Sec-WebSocket-Accept: ${createHash("sha1").update(key).digest("base64")}`;
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${accept}\r\n\r\n`);
  socket.pipe(socket).on("error", () => socket.destroy());
}

// As long as a real ingest's, so that no connection is closed just as a request is sent.
const keepAliveTimeout = 60_000;
createHttp({ keepAliveTimeout }, record)
  .on("upgrade", echo)
  .listen(Number(process.env.PORT ?? 9000));
if (process.env.CERT) {
  const [cert, key] = [readFileSync(`${process.env.CERT}.crt`), readFileSync(`${process.env.CERT}.key`)];
  createHttps({ cert, key, keepAliveTimeout }, record).listen(9443);
}

createHttp(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://recorder");
  // A test's client would keep the connection, for the next recorder that gets this container's address.
  response.setHeader("connection", "close");
  if (pathname === "/requests") {
    const after = Number(searchParams.get("after"));
    const signal = AbortSignal.timeout(Number(searchParams.get("wait")));
    if (recorded.length <= after) await once(events, "recorded", { signal }).catch(() => {});
    return response.end(JSON.stringify(recorded.slice(after)));
  }
  if (pathname === "/answer") configured = JSON.parse(String(await bodyOf(request)));
  if (pathname === "/proceed") events.emit("proceed");
  if (pathname === "/reset") {
    events.emit("proceed");
    recorded.length = 0;
    configured = ok;
  }
  response.end(pathname === "/count" ? String(recorded.length) : "");
}).listen(9001);

process.on("SIGTERM", () => process.exit(0));
