/**
 * An ingest with fault injection, in front of the recorder: what no rule applies to is passed on unchanged, so that the recorder has what
 * the ingest accepted. Port 9000: the ingest; also 443 with TLS, if CERT names the pair CERT.crt and CERT.key. Port 9001: PUT /rules;
 * GET /seen?after=N, the requests after the Nth.
 */
import { readFileSync } from "node:fs";
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";

/** A fault for envelopes whose first item has this type (any type if it is missing); the first matching rule applies. */
export interface Rule {
  item?: string;
  gone?: boolean;
  status?: number;
  headers?: Record<string, string>;
  delay?: number;
  /** Cuts the connection: at the first byte of the body, or after the envelope was accepted. */
  cut?: "body" | "answer";
}

/** `status` is 0 if the connection was cut. */
export interface Seen {
  at: number;
  item: string;
  status: number;
}

let rules: Rule[] = [];
const seen: Seen[] = [];
const agent = new Agent({ keepAlive: true });

function itemOf(body: Buffer, encoding: string | undefined): string {
  try {
    const content = encoding === "gzip" ? gunzipSync(body) : body;
    // Two lines of what may be a bomb: all of its 90 million would take seconds and gigabytes.
    const start = content.subarray(0, 1 << 20).toString();
    return String(JSON.parse(start.split("\n", 2)[1] ?? "").type);
  } catch {
    return "unknown";
  }
}

function record(request: IncomingMessage, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: "recorder", port: 9000, path: request.url, method: request.method, agent };
    const outgoing = httpRequest({ ...options, headers: request.rawHeaders }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    outgoing.on("error", reject).end(body);
  });
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [first = {}] = rules;
  if (first.cut === "body" && !first.item && !first.delay) {
    request.once("data", () => request.socket.destroy());
    return;
  }
  const body = await buffer(request);
  const item = itemOf(body, request.headers["content-encoding"]);
  const rule = rules.find((rule) => rule.item === undefined || rule.item === item) ?? {};
  const entry = { at: Date.now(), item, status: 0 };
  seen.push(entry);
  if (rule.delay) await sleep(rule.delay);
  if (rule.cut !== "body") entry.status = rule.status ?? (await record(request, body));
  if (rule.cut) request.socket.destroy();
  else response.writeHead(entry.status, rule.headers).end("{}");
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
// Long, because an idle connection that closes just as an envelope is sent would be a fault of its own.
for (const { server } of listeners) server.keepAliveTimeout = 60_000;

function setGone(gone: boolean): void {
  for (const { server, port } of listeners) {
    if (gone) server.close().closeAllConnections();
    else if (!server.listening) server.listen(port);
  }
}
setGone(false);

createServer(async (request, response) => {
  if (request.method === "PUT") {
    rules = JSON.parse((await buffer(request)).toString()) as Rule[];
    setGone(rules.some(({ gone }) => gone));
  }
  const { searchParams } = new URL(request.url ?? "/", "http://ingest");
  response.end(JSON.stringify(seen.slice(Number(searchParams.get("after")))));
}).listen(9001);

process.on("SIGTERM", () => process.exit(0));
