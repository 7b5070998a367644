import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "./faults.ts";
import { renderPage } from "./stub-page.ts";
import { respondToEnvelope } from "./stub-tunnel.ts";

export type Reply = (status: number, headers?: Record<string, string>, text?: string) => void;

/** Starts a correct target with one injected fault, on a free port of this machine. */
export async function startStub(fault: Fault = {}): Promise<{ url: string; stop: () => Promise<void> }> {
  const state: State = { fault, firstRendering: new Map(), envelopes: 0, received: 0 };
  const server = createServer(async (request, response) => {
    const body = await read(request);
    const reply: Reply = (status, headers = {}, text = "") => response.writeHead(status, headers).end(text);
    await respond(request, body, state, reply);
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
  /** The first rendering of each page, by address. */
  firstRendering: Map<string, string>;
  /** Envelopes in progress, and the total received. */
  envelopes: number;
  received: number;
  lastTraceId?: { id: string; at: number };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("latin1");
}

async function respond(request: IncomingMessage, body: string, state: State, reply: Reply): Promise<void> {
  const { fault } = state;
  const { pathname, search } = new URL(request.url ?? "/", "http://stub");
  const { method = "GET", headers } = request;
  if (pathname === "/monitoring") {
    state.envelopes++;
    // Longer than all pages of the journey take: between two batches of envelopes a page would be fast.
    await sleep(fault.tunnelBlocksPages ? 6_000 : 0);
    state.envelopes--;
    if (fault.acceptsOneEnvelope && method === "POST" && search === "" && state.received++ > 0)
      return reply(429, { "x-sentry-rate-limits": "60:replay:key" });
    return respondToEnvelope(method, search, body, fault, reply);
  }
  await sleep(fault.delayMs ?? (fault.tunnelBlocksPages && state.envelopes > 0 ? 600 : 0));
  if (fault.dropBaggage) delete headers.baggage;
  if (fault.dropSentryTrace) delete headers["sentry-trace"];

  const extra: Record<string, string> = {};
  if (fault.noindexEverywhere) extra["x-robots-tag"] = "noindex";
  if (fault.respondsWithTrace) extra["sentry-trace"] = `${"a".repeat(32)}-${"b".repeat(16)}-1`;
  const html = { ...extra, "content-type": "text/html; charset=utf-8" };

  const isConsolePage = fault.noConsole && /^\/(trace|test-events\/.*|api\/echo)$/.test(pathname);
  if (isConsolePage)
    return reply(404, { ...html, "x-robots-tag": "noindex" }, page("/404", headers, state, fault.cachedNotFound));
  if (pathname === "/api/echo") return reply(200, { "content-type": "application/json" }, JSON.stringify(headers));
  if (pathname === "/test-events/redirect")
    return reply(307, { location: fault.redirectAway ? "http://web:3000/trace" : "/trace" });
  if (pathname === "/_next/static/chunks/app.js")
    return reply(fault.assetLost ? 404 : 200, fault.assetLost ? { "x-robots-tag": "noindex" } : {}, "0");
  if (!["/", "/trace", "/products"].includes(pathname)) {
    const status = fault.softNotFound ? 200 : 404;
    const robots: Record<string, string> =
      fault.noindexMissing || fault.softNotFound ? {} : { "x-robots-tag": "noindex" };
    return reply(status, { ...html, ...robots }, page("/404", headers, state, fault.cachedNotFound));
  }
  if (headers.rsc) return reply(200, { "content-type": "text/x-component" }, "0:{}");
  if (method === "POST" && (fault.actionLost || !body.includes("$ACTION_REF_1"))) return reply(500, html);
  if (fault.breaksOnInvalidTrace && headers["sentry-trace"] && !/^[0-9a-f-]+$/.test(String(headers["sentry-trace"])))
    return reply(500, html);
  reply(200, html, page(pathname, headers, state, fault.cachedPage));
}

const FORM = '<form action=""><input type="hidden" name="$ACTION_REF_1"/><input name="text" value="hello"/></form>';

function page(path: string, headers: IncomingMessage["headers"], state: State, cached: boolean | undefined): string {
  const fresh = renderPage(headers, path === "/" ? FORM : "", state.fault, mixedUp(state));
  if (!cached) return fresh;
  const first = state.firstRendering.get(path) ?? fresh;
  state.firstRendering.set(path, first);
  return first;
}

/** With that fault, a request within 5 ms of another gets the other's trace. */
function mixedUp(state: State): string | undefined {
  if (!state.fault.mixedUpClients) return undefined;
  const now = Date.now();
  if (!state.lastTraceId || now - state.lastTraceId.at > 5) {
    state.lastTraceId = { id: crypto.randomUUID().replaceAll("-", ""), at: now };
  }
  return state.lastTraceId.id;
}
