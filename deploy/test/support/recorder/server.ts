/**
 * The far end of the wire in tests: an HTTP server that stands for the ingest (or for an upstream API), keeps every
 * request exactly as it came, and answers what the test told it to. Runs on Node's own type stripping, no dependency.
 *
 * Port 9000 (and 9443 with TLS, when CERT names a pair CERT.crt and CERT.key): whatever is under test talks to this one. /upstream
 * plays an API that shows its caller the headers it got.
 * Port 9001: the test asks here.
 *   GET /count                     how many requests came
 *   GET /requests?after=N&wait=MS  those after the Nth; when there is none yet, waits up to MS for it
 *   PUT /answer                    what port 9000 answers from now on
 *   PUT /proceed                   lets held answers send their rest
 */
import { readFileSync } from "node:fs";
import { createServer as createHttp, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createHttps } from "node:https";
import type { Duplex } from "node:stream";
import type { Answer, RecordedRequest } from "./types.ts";

const recorded: RecordedRequest[] = [];
const waiting = new Set<() => void>();
const held = new Set<() => void>();
const well: Answer = { status: 200, headers: { "content-type": "application/json" }, body: "{}" };
let told = well;

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const record: RequestListener = async (request, response) => {
  const body = await bodyOf(request);
  const { method = "", url = "", rawHeaders } = request;
  recorded.push({ method, url, rawHeaders, body: body.toString("base64") });
  for (const wake of waiting) wake();
  const answer = told.only && !body.includes(told.only) ? well : told;
  if (url === "/upstream") response.end(JSON.stringify(request.headers));
  else if (answer.instead === "reset") request.socket.destroy();
  else if (answer.instead !== "hang") {
    response.writeHead(answer.status, answer.headers);
    response.write(answer.body);
    if (answer.rest !== undefined) await new Promise<void>((resolve) => held.add(resolve));
    response.end(answer.rest);
  }
};

/** A WebSocket's far end, as far as a proxy can tell: accepts the handshake and sends back what it gets. */
function echo({ method = "", url = "", rawHeaders }: IncomingMessage, socket: Duplex): void {
  recorded.push({ method, url, rawHeaders, body: "" });
  socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  socket.pipe(socket).on("error", () => socket.destroy());
}

// As long as a real ingest's: a kept connection that closes just as a request leaves would be a fault that nobody chose.
const keepAliveTimeout = 60_000;
createHttp({ keepAliveTimeout }, record).on("upgrade", echo).listen(9000);
if (process.env.CERT) {
  const [cert, key] = [readFileSync(`${process.env.CERT}.crt`), readFileSync(`${process.env.CERT}.key`)];
  createHttps({ cert, key, keepAliveTimeout }, record).listen(9443);
}

createHttp(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://recorder");
  if (pathname === "/answer") {
    told = JSON.parse((await bodyOf(request)).toString()) as Answer;
    response.writeHead(204).end();
  } else if (pathname === "/proceed") {
    for (const go of held) go();
    held.clear();
    response.end();
  } else if (pathname === "/count") {
    response.end(String(recorded.length));
  } else {
    const after = Number(searchParams.get("after"));
    if (recorded.length <= after) await nextRequest(Number(searchParams.get("wait")));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(recorded.slice(after)));
  }
}).listen(9001);

/** Resolves on the next request, or after `patience` ms. */
function nextRequest(patience: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      waiting.delete(done);
      resolve();
    };
    const timer = setTimeout(done, patience);
    waiting.add(done);
  });
}

process.on("SIGTERM", () => process.exit(0));
