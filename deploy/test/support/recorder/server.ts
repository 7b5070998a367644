/**
 * An HTTP server that replaces the ingest (or an upstream API) in tests: records every request as received, and answers as the test
 * configures it. Runs with Node's type stripping, without dependencies.
 *
 * Port 9000 (and 9443 with TLS, if CERT names a pair CERT.crt and CERT.key): for the tested component. /upstream is an API that returns
 * the request's headers.
 * Port 9001: for the test.
 *   GET /count                     the number of requests
 *   GET /requests?after=N&wait=MS  requests after the Nth; waits up to MS for the first
 *   PUT /answer                    sets the answer of port 9000
 *   PUT /proceed                   sends the rest of held answers
 *   PUT /reset                     forgets requests and answer, as at the start
 */
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

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

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
function echo({ method = "", url = "", rawHeaders }: IncomingMessage, socket: Duplex): void {
  recorded.push({ method, url, rawHeaders, body: "" });
  socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  socket.pipe(socket).on("error", () => socket.destroy());
}

// As long as a real ingest's, so that no connection is closed just as a request is sent.
const keepAliveTimeout = 60_000;
createHttp({ keepAliveTimeout }, record).on("upgrade", echo).listen(9000);
if (process.env.CERT) {
  const [cert, key] = [readFileSync(`${process.env.CERT}.crt`), readFileSync(`${process.env.CERT}.key`)];
  createHttps({ cert, key, keepAliveTimeout }, record).listen(9443);
}

createHttp(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://recorder");
  // A test's client would keep the connection, for the next recorder that gets this container's address.
  response.setHeader("connection", "close");
  if (pathname === "/answer") {
    configured = JSON.parse((await bodyOf(request)).toString()) as Answer;
    response.writeHead(204).end();
  } else if (pathname === "/proceed" || pathname === "/reset") {
    events.emit("proceed");
    if (pathname === "/reset") {
      recorded.length = 0;
      configured = ok;
    }
    response.end();
  } else if (pathname === "/count") {
    response.end(String(recorded.length));
  } else {
    const after = Number(searchParams.get("after"));
    const signal = AbortSignal.timeout(Number(searchParams.get("wait")));
    if (recorded.length <= after) await once(events, "recorded", { signal }).catch(() => {});
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(recorded.slice(after)));
  }
}).listen(9001);

process.on("SIGTERM", () => process.exit(0));
