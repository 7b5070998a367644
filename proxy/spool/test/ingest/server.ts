/**
 * An ingest with moods, in front of the recorder: what no rule stops is handed on to it as it came, so that the recorder
 * holds what the ingest took. Port 9000: the ingest. Port 9001: PUT /rules, GET /seen.
 */
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import type { Rule, Seen } from "./types.ts";

let rules: Rule[] = [];
const seen: Seen[] = [];
const agent = new Agent({ keepAlive: true });

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

function itemOf(body: Buffer, coding: string | undefined): string {
  try {
    const text = (coding === "gzip" ? gunzipSync(body) : body).toString();
    return String(JSON.parse(text.split("\n")[1] ?? "").type);
  } catch {
    return "unknown";
  }
}

/** Gives the request to the recorder; resolves with its status. */
function record(request: IncomingMessage, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: "recorder", port: 9000, path: request.url, method: request.method, agent };
    const outgoing = httpRequest({ ...options, headers: request.rawHeaders }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    outgoing.on("error", reject).end(body);
  });
}

async function take(request: IncomingMessage, response: ServerResponse): Promise<number> {
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
  if (rule.delay) await pause(rule.delay);
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

const ingest = createServer((request, response) => {
  request.on("error", () => {});
  take(request, response).catch(() => request.socket.destroy());
});
// A kept connection that closes just as an envelope leaves is one more fault, and none of the chosen ones.
ingest.keepAliveTimeout = 60_000;
ingest.listen(9000);

createServer(async (request, response) => {
  if (request.method === "PUT") rules = JSON.parse((await bodyOf(request)).toString()) as Rule[];
  response.end(JSON.stringify(seen));
}).listen(9001);

process.on("SIGTERM", () => process.exit(0));
