/**
 * An ingest with fault injection, in front of the recorder: requests that no rule applies to are passed on unchanged, so that the
 * recorder has what the ingest accepted. Port 9000: the ingest; also 443 with TLS, if CERT names the pair CERT.crt and CERT.key.
 * Port 9001: PUT /rules; GET /seen?after=N, the requests after the Nth.
 */
import { readFileSync } from "node:fs";
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import type { Rule, Seen } from "./types.ts";

let rules: Rule[] = [];
const seen: Seen[] = [];
const agent = new Agent({ keepAlive: true });

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function itemOf(body: Buffer, encoding: string | undefined): string {
  try {
    const content = encoding === "gzip" ? gunzipSync(body) : body;
    // Two lines of what may be a bomb: all of its 90 million would take seconds and gigabytes.
    const start = content.subarray(0, 1 << 20).toString();
    const [, itemHeader = ""] = start.split("\n", 2);
    return String(JSON.parse(itemHeader).type);
  } catch {
    return "unknown";
  }
}

/** Passes the request on to the recorder; resolves with its status. */
function record(request: IncomingMessage, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: "recorder", port: 9000, path: request.url, method: request.method, agent };
    const outgoing = httpRequest({ ...options, headers: request.rawHeaders }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    outgoing.on("error", reject).end(body);
  });
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<number> {
  const [first = {}] = rules;
  if (first.cut === "body" && !first.item && !first.delay) {
    request.once("data", () => request.socket.destroy());
    return 0;
  }
  const body = await bodyOf(request);
  const item = itemOf(body, request.headers["content-encoding"]);
  const rule = rules.find((one) => one.item === undefined || one.item === item) ?? {};
  const entry = { at: Date.now(), item, status: 0 };
  seen.push(entry);
  if (rule.delay) await sleep(rule.delay);
  if (rule.cut === "body") request.socket.destroy();
  else if (rule.status) response.writeHead(rule.status, rule.headers).end();
  else {
    entry.status = await record(request, body);
    if (rule.cut === "answer") request.socket.destroy();
    else response.writeHead(entry.status, rule.headers).end("{}");
    return entry.status;
  }
  entry.status = rule.status ?? 0;
  return entry.status;
}

const serve = (request: IncomingMessage, response: ServerResponse) => {
  request.on("error", () => {});
  handle(request, response).catch(() => request.socket.destroy());
};
const listeners = [{ server: createServer(serve), port: 9000 }];
const { CERT } = process.env;
if (CERT) {
  const [cert, key] = [readFileSync(`${CERT}.crt`), readFileSync(`${CERT}.key`)];
  listeners.push({ server: createTlsServer({ cert, key }, serve), port: 443 });
}
for (const { server, port } of listeners) {
  // Long, because an idle connection that closes just as an envelope is sent would be a fault of its own.
  server.keepAliveTimeout = 60_000;
  server.listen(port);
}

/** Starts or stops refusing connections. */
function setGone(gone: boolean): void {
  for (const { server, port } of listeners) {
    if (gone) server.close().closeAllConnections();
    else if (!server.listening) server.listen(port);
  }
}

createServer(async (request, response) => {
  if (request.method === "PUT") {
    rules = JSON.parse((await bodyOf(request)).toString()) as Rule[];
    setGone(rules.some(({ gone }) => gone));
  }
  const { searchParams } = new URL(request.url ?? "/", "http://ingest");
  response.end(JSON.stringify(seen.slice(Number(searchParams.get("after")))));
}).listen(9001);

process.on("SIGTERM", () => process.exit(0));
