import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { onTestFinished } from "vitest";
import { formatBaggage, parseBaggage } from "../lib/baggage.ts";
import { formatSentryTrace, formatTraceParent, parseTrace } from "../lib/trace.ts";

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
  /** Half of the body is sent, or less than the header of a compressed one. */
  cut?: "stalls" | "closes";
}

export interface Fault {
  request?: (seen: Seen) => unknown;
  response?: (answer: Answer, seen: Seen) => unknown;
  delay?: (seen: Seen) => number;
  /** What reaches the ingest of an envelope: its bytes, the project if it is another one, and milliseconds until then. */
  deliver?: (raw: Buffer, count: number) => { raw: Buffer; project?: number; after?: number }[];
  compressed?: boolean;
  runs?: number;
}

/** Starts a server on a free port of this machine, for this test. */
export async function listen(listener: RequestListener): Promise<string> {
  // By default Node resets a connection after 5 s, just when a busy test sends on it.
  const server = createServer({ keepAliveTimeout: 0 }, listener);
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Accepted envelopes go to `ingest`. */
export async function startStub(fault: Fault = {}, ingest = ""): Promise<string> {
  const counts: Record<string, number> = {};
  const respond = async (request: IncomingMessage): Promise<Answer> => {
    const { method = "GET", url: path = "/", headers } = request;
    const body = await buffer(request);
    counts[path] = (counts[path] ?? 0) + 1;
    const seen: Seen = { method, path, headers, body, count: counts[path] };
    fault.request?.(seen);
    const isTunnel = seen.path.startsWith("/monitoring");
    await sleep(fault.delay?.(seen) ?? 0);
    const isAction = seen.method === "POST" && seen.path === "/test-events";
    for (let run = 0; isAction && run < (fault.runs ?? 1); run++) await sendTransaction(seen, ingest);
    const answer = isTunnel ? await tunnel(seen, fault, ingest) : app(seen);
    fault.response?.(answer, seen);
    return answer;
  };
  const failed = (error: unknown) => ({ status: 599, headers: {}, body: String(error) });
  return listen(async (request, response) => {
    const { status, headers, body, cut }: Answer = await respond(request).catch(failed);
    const asks = `${request.headers["accept-encoding"]}`.includes("gzip") && fault.compressed !== false;
    const zips = asks && headers["content-type"]?.startsWith("text/html") && !headers["content-encoding"];
    const whole = zips ? gzipSync(body) : Buffer.from(body);
    response.writeHead(status, { ...headers, ...(zips && { "content-encoding": "gzip" }) });
    if (!cut) return response.end(whole);
    response.write(whole.subarray(0, zips ? 5 : whole.length / 2), () => cut === "closes" && response.destroy());
  });
}

async function post(ingest: string, raw: Buffer, project = 1): Promise<void> {
  if (ingest) await fetch(`${ingest}/api/${project}/envelope/`, { method: "POST", body: new Uint8Array(raw) });
}

async function sendTransaction({ headers }: Seen, ingest: string): Promise<void> {
  const trace = { trace_id: `${headers["sentry-trace"]}`.slice(0, 32), environment: "loadtest" };
  const transaction = { type: "transaction", transaction: "POST /test-events" };
  const lines = [{ event_id: hex(16), trace }, { type: "transaction" }, transaction];
  await post(ingest, Buffer.from(lines.map((line) => JSON.stringify(line)).join("\n")));
}

async function tunnel(seen: Seen, { deliver }: Fault, ingest: string): Promise<Answer> {
  const { method, path, headers, count } = seen;
  const body = headers["content-encoding"] === "gzip" ? gunzipSync(seen.body) : seen.body;
  if (method !== "POST") return { status: 405, headers: {}, body: "" };
  if (path.includes("?")) return { status: 403, headers: {}, body: "" };
  if (!wellFormed(body.toString("latin1"))) return { status: 400, headers: {}, body: "{}" };
  for (const { raw, project = 1, after = 0 } of deliver?.(body, count) ?? [{ raw: body }]) {
    const arrive = () => post(ingest, raw, project);
    if (after) setTimeout(arrive, after);
    else await arrive();
  }
  const { event_id: id } = JSON.parse(body.subarray(0, body.indexOf(10)).toString());
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify({ id }) };
}

/** Parses an envelope by the lengths in its item headers, as an ingest does. `body` has one character per byte. */
function wellFormed(body: string): boolean {
  let rest = body.slice(body.indexOf("\n") + 1);
  while (rest.length > 0) {
    const end = rest.indexOf("\n");
    const { length } = JSON.parse(rest.slice(0, end));
    if (rest[end + 1 + length] !== "\n") return false;
    rest = rest.slice(end + length + 2);
  }
  return true;
}

const heading = (path: string) => `Page ${path}`;
const payload = (path: string, trace: unknown) =>
  `1:"$Sreact.fragment"\n2:T7,cut\nüx0:{"b":"build","f":[["children",{"s":"__PAGE__","h1":"${heading(path)}","trace":"${trace}"}]]}\n`;
const FORM = `<form action="" method="POST"><input type="hidden" name="$ACTION_REF_1"/><input name="text" value="hello"/>
  <button>Call the upstream</button><output>OUTPUT</output></form>`;

function app({ method, path, headers, body }: Seen): Answer {
  const { pathname } = new URL(path, "http://stub");
  const answer = (type: string, text: string) => ({ status: 200, headers: { "content-type": type }, body: text });
  const nonce = hex(8);
  const html = (text: string) => {
    const { body, ...rest } = answer("text/html; charset=utf-8", text.replaceAll("NONCE", nonce));
    // As the proxy, which sends it to who asks for a page.
    const isAsked = /text\/html/.test(`${headers.accept}`);
    const policy = {
      "content-security-policy": `script-src 'nonce-${nonce}' 'strict-dynamic'; style-src 'self' 'nonce-${nonce}'`,
    };
    const pageHeaders = { "referrer-policy": "origin", "cache-control": "private, no-store", ...(isAsked && policy) };
    return { ...rest, body, headers: { ...rest.headers, ...pageHeaders } };
  };
  switch (pathname) {
    case "/api/echo":
      return answer("application/json", JSON.stringify(headers));
    case "/test-events/redirect":
      return { status: 307, headers: { location: "/trace" }, body: "" };
    case "/_next/static/chunks/app.js":
      return answer("application/javascript", "(self.x=self.x||[]).push([1,{}]);");
    case "/_next/static/chunks/app.css":
      return answer("text/css", "body{color:red}");
  }
  if (!["/", "/trace", "/products", "/test-events"].includes(pathname)) {
    const missing = html(page(headers, "<h1>Not found</h1>"));
    return { ...missing, status: 404, headers: { ...missing.headers, "x-robots-tag": "noindex" } };
  }
  if (headers.rsc) return answer("text/x-component", payload(pathname, headers["sentry-trace"]));
  if (method === "POST" && !body.includes("$ACTION_REF_1")) return { ...html(""), status: 500 };
  const output = method === "POST" ? `api received trace <!-- -->${`${headers["sentry-trace"]}`.slice(0, 32)}.` : "";
  const form = pathname === "/test-events" ? FORM.replace("OUTPUT", output) : "";
  return html(page(headers, `<h1>${heading(pathname)}</h1>${form}`));
}

const hex = (bytes: number) => randomBytes(bytes).toString("hex");

function page(headers: IncomingHttpHeaders, content: string): string {
  const { traceId, sampled = true } = parseTrace(`${headers["sentry-trace"]}`) ?? { traceId: hex(16) };
  const { vendor, ...context } = parseBaggage(headers.baggage as string | undefined) ?? {};
  const fresh = {
    "sentry-trace_id": traceId,
    "sentry-public_key": "culvert",
    "sentry-sampled": String(sampled),
    "sentry-environment": "production",
    "sentry-release": "app@1",
    "sentry-sample_rate": "1",
  };
  const sampling = context["sentry-trace_id"] === traceId ? context : fresh;
  const baggage = escapeHtml(formatBaggage(vendor === undefined ? sampling : { ...sampling, vendor }));
  const trace = () => ({ traceId, spanId: hex(8), sampled });
  return `<!DOCTYPE html><html><head>
    <meta name="sentry-trace" content="${formatSentryTrace(trace())}"/><meta name="baggage" content="${baggage}"/>
    <script src="/_next/static/chunks/app.js" async="" nonce="NONCE"></script><link rel="stylesheet" href="/_next/static/chunks/app.css"/>
    </head><body><main>${content}</main><script nonce="NONCE">self.__next_f.push([1,${JSON.stringify(content.replace(/<[^>]*>/g, ""))}])</script><h2>Outgoing</h2><dl><dt>sentry-trace</dt><dd>${formatSentryTrace(trace())}</dd>
    <dt>traceparent</dt><dd>${formatTraceParent(trace())}</dd><dt>baggage</dt><dd>${baggage}</dd></dl></body></html>`;
}

export const escapeHtml = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

export const timingOf = (dsn: string, tunnel: string) =>
  `culvert;desc="${new URLSearchParams({ dsn, environment: "production", release: "app@1", tunnel })}"`;

export const asExample = (answer: Answer, { path }: Seen): void => {
  if (!answer.body.includes("<html")) return;
  answer.headers["server-timing"] = timingOf("http://culvert@ingest:8969/1", "/monitoring");
  const names: Record<string, string> = { "/": "What is running", "/trace": "The trace of this page view" };
  const heading = answer.status === 404 ? "Page not found" : (names[path] ?? "Test events");
  answer.body = answer.body.replace("<head>", "<head><title>Culvert</title>").replace(/(?<=<h1>)[^<]*/, heading);
  const policy = { "x-content-type-options": "nosniff", "permissions-policy": "camera=()" };
  Object.assign(answer.headers, policy);
};

/** Moves a page's trace from its metas into Server-Timing, as the package does on pages that are the same for every visitor. */
export const asHeader = (answer: Answer): void => {
  const metas = /<meta name="(sentry-trace|baggage)" content="([^"]*)"\/>/g;
  const timings = Array.from(answer.body.matchAll(metas), ([, name, value]) => `${name};desc="${value}"`);
  if (timings.length === 0) return;
  answer.body = answer.body.replace(metas, "");
  answer.headers["server-timing"] = [answer.headers["server-timing"] ?? [], ...timings].flat().join(", ");
};
