import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { renderPage } from "./stub-page.ts";

/** What a target receives and answers; a fault changes either. `count` is the number of requests for that path so far. */
export interface Seen {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  count: number;
}
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** How the stub misbehaves: between client and target, like a faulty proxy, or in the app itself. */
export interface Fault {
  request?: (seen: Seen) => void;
  response?: (answer: Answer, seen: Seen) => void;
  /** Milliseconds before the answer. */
  delay?: (seen: Seen, state: { lastEnvelope: number }) => number;
  /** What reaches the ingest of an envelope; undefined: nothing. */
  deliver?: (raw: Buffer, count: number) => Buffer | undefined;
  app?: AppFault;
}
export type AppFault =
  | "cached page"
  | "cached 404"
  | "mixed up"
  | "flips sampled"
  | "changes baggage"
  | "same span"
  | "upstream untraced"
  | "other traceparent"
  | "changes vendor"
  | "echoes"
  | "continues malformed";

/** Starts a correct target with one injected fault, on a free port of this machine; accepted envelopes go to `ingest`. */
export async function startStub(fault: Fault = {}, ingest = ""): Promise<{ url: string; stop: () => Promise<void> }> {
  const state: State = { fault, ingest, firstRendering: new Map(), counts: new Map(), lastEnvelope: 0 };
  const server = createServer(async (request, response) => {
    const answer = await respond(await read(request, state), state).catch((error) => ({
      status: 599,
      headers: {},
      body: String(error),
    }));
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const stop = () =>
    new Promise<void>((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

interface State {
  fault: Fault;
  ingest: string;
  /** The first rendering of each page, by address. */
  firstRendering: Map<string, string>;
  counts: Map<string, number>;
  /** When the last envelope came. */
  lastEnvelope: number;
  lastTraceId?: { id: string; at: number };
}

async function read(request: IncomingMessage, { counts }: State): Promise<Seen> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { method = "GET", url: path = "/", headers } = request;
  const count = (counts.get(path) ?? 0) + 1;
  counts.set(path, count);
  return { method, path, headers, body: Buffer.concat(chunks), count };
}

async function respond(seen: Seen, state: State): Promise<Answer> {
  const { fault } = state;
  fault.request?.(seen);
  const isTunnel = seen.path.startsWith("/monitoring");
  if (isTunnel) state.lastEnvelope = Date.now();
  await sleep(fault.delay?.(seen, state) ?? 0);
  const answer = isTunnel ? await tunnel(seen, state) : app(seen, state);
  fault.response?.(answer, seen);
  return answer;
}

/** Responds to an envelope as the tunnel must: accepts its own project only, and only envelopes that an ingest can parse. */
async function tunnel({ method, path, body, count }: Seen, { fault, ingest }: State): Promise<Answer> {
  const json = { "content-type": "application/json" };
  if (method !== "POST") return { status: 405, headers: {}, body: "" };
  if (path.includes("?")) return { status: 403, headers: {}, body: "" };
  if (!wellFormed(body.toString("latin1"))) return { status: 400, headers: json, body: "{}" };
  const arriving = fault.deliver ? fault.deliver(body, count) : body;
  if (ingest && arriving) await fetch(`${ingest}/api/1/envelope/`, { method: "POST", body: new Uint8Array(arriving) });
  const { event_id: id } = JSON.parse(body.subarray(0, body.indexOf(10)).toString());
  return { status: 200, headers: json, body: JSON.stringify({ id }) };
}

/** Parses an envelope by the lengths in its item headers, as an ingest does. `body` has one character per byte. */
export function wellFormed(body: string): boolean {
  let rest = body.slice(body.indexOf("\n") + 1);
  while (rest.length > 0) {
    const end = rest.indexOf("\n");
    const { length } = JSON.parse(rest.slice(0, end));
    if (rest[end + 1 + length] !== "\n") return false;
    rest = rest.slice(end + length + 2);
  }
  return true;
}

const PAYLOAD = '1:"$Sreact.fragment"\n2:T7,cut\nüx0:{"b":"build","f":[["children",{"s":"__PAGE__"}]]}\n';
const FORM = `<form action="" method="POST"><input type="hidden" name="$ACTION_REF_1"/><input name="text" value="hello"/>
  <button>Call the upstream</button><output>OUTPUT</output></form>`;

function app({ method, path: url, headers, body }: Seen, state: State): Answer {
  const { pathname } = new URL(url, "http://stub");
  const html = { "content-type": "text/html; charset=utf-8", "cache-control": "private, no-store" };
  if (pathname === "/api/echo")
    return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(headers) };
  if (pathname === "/test-events/redirect") return { status: 307, headers: { location: "/trace" }, body: "" };
  if (pathname === "/_next/static/chunks/app.js")
    return {
      status: 200,
      headers: { "content-type": "application/javascript" },
      body: "(self.x=self.x||[]).push([1,{}]);",
    };
  if (pathname === "/_next/static/chunks/app.css")
    return { status: 200, headers: { "content-type": "text/css" }, body: "body{color:red}" };
  if (!["/", "/trace", "/products", "/test-events"].includes(pathname))
    return { status: 404, headers: { ...html, "x-robots-tag": "noindex" }, body: page("/404", headers, state) };
  if (headers.rsc) return { status: 200, headers: { "content-type": "text/x-component" }, body: PAYLOAD };
  if (method === "POST" && !body.includes("$ACTION_REF_1")) return { status: 500, headers: html, body: "" };
  const [, traceId = ""] = /^([0-9a-f]{32})/.exec(String(headers["sentry-trace"])) ?? [];
  const output = method === "POST" ? `api received trace <!-- -->${traceId}.` : "";
  return { status: 200, headers: html, body: page(pathname, headers, state, output) };
}

function page(path: string, headers: IncomingHttpHeaders, state: State, output = ""): string {
  const { app: fault } = state.fault;
  const content = `<h1>Page ${path}</h1>${path === "/test-events" ? FORM.replace("OUTPUT", output) : ""}`;
  const fresh = renderPage(headers, content, fault, mixedUp(state));
  if (fault !== (path === "/404" ? "cached 404" : "cached page")) return fresh;
  const first = state.firstRendering.get(path) ?? fresh;
  state.firstRendering.set(path, first);
  return first;
}

/** With that fault, a request within 5 ms of another gets the other's trace. */
function mixedUp(state: State): string | undefined {
  if (state.fault.app !== "mixed up") return undefined;
  const now = Date.now();
  if (!state.lastTraceId || now - state.lastTraceId.at > 5)
    state.lastTraceId = { id: crypto.randomUUID().replaceAll("-", ""), at: now };
  return state.lastTraceId.id;
}
