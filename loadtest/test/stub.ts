import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Plant } from "./faults.ts";
import { renderPage } from "./stub-page.ts";
import { answerReport } from "./stub-tunnel.ts";

export type Reply = (status: number, headers?: Record<string, string>, text?: string) => void;

/** Starts a target that behaves as it should but for the fault planted in it, on a free port of this machine. */
export async function startStub(plant: Plant = {}): Promise<{ url: string; stop: () => Promise<void> }> {
  const state: State = { plant, frozen: new Map(), reports: 0, asked: 0 };
  const server = createServer(async (request, response) => {
    const body = await read(request);
    const reply: Reply = (status, headers = {}, text = "") => response.writeHead(status, headers).end(text);
    await answer(request, body, state, reply);
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
  plant: Plant;
  /** Pages as first rendered, by address. */
  frozen: Map<string, string>;
  /** Reports that are on their way, and all that ever came. */
  reports: number;
  asked: number;
  lastTraceId?: { id: string; at: number };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("latin1");
}

async function answer(request: IncomingMessage, body: string, state: State, reply: Reply): Promise<void> {
  const { plant } = state;
  const { pathname, search } = new URL(request.url ?? "/", "http://stub");
  const { method = "GET", headers } = request;
  if (pathname === "/monitoring") {
    state.reports++;
    await sleep(plant.tunnelBlocksPages ? 200 : 0);
    state.reports--;
    if (plant.takesOneReport && method === "POST" && search === "" && state.asked++ > 0)
      return reply(429, { "x-sentry-rate-limits": "60:replay:key" });
    return answerReport(method, search, body, plant, reply);
  }
  await sleep(plant.delayMs ?? (plant.tunnelBlocksPages && state.reports > 0 ? 150 : 0));
  if (plant.dropBaggage) delete headers.baggage;
  if (plant.dropSentryTrace) delete headers["sentry-trace"];

  const extra: Record<string, string> = {};
  if (plant.noindexEverywhere) extra["x-robots-tag"] = "noindex";
  if (plant.answersWithTrace) extra["sentry-trace"] = `${"a".repeat(32)}-${"b".repeat(16)}-1`;
  const html = { ...extra, "content-type": "text/html; charset=utf-8" };

  const ofTheConsole = plant.noConsole && /^\/(trace|test-events\/.*|api\/echo)$/.test(pathname);
  if (ofTheConsole)
    return reply(404, { ...html, "x-robots-tag": "noindex" }, page("/404", headers, state, plant.cachedNotFound));
  if (pathname === "/api/echo") return reply(200, { "content-type": "application/json" }, JSON.stringify(headers));
  if (pathname === "/test-events/redirect")
    return reply(307, { location: plant.redirectAway ? "http://web:3000/trace" : "/trace" });
  if (pathname === "/_next/static/chunks/app.js")
    return reply(plant.assetLost ? 404 : 200, plant.assetLost ? { "x-robots-tag": "noindex" } : {}, "0");
  if (!["/", "/trace", "/products"].includes(pathname)) {
    const status = plant.softNotFound ? 200 : 404;
    const robots: Record<string, string> =
      plant.noindexMissing || plant.softNotFound ? {} : { "x-robots-tag": "noindex" };
    return reply(status, { ...html, ...robots }, page("/404", headers, state, plant.cachedNotFound));
  }
  if (headers.rsc) return reply(200, { "content-type": "text/x-component" }, "0:{}");
  if (method === "POST" && (plant.actionLost || !body.includes("$ACTION_REF_1"))) return reply(500, html);
  if (plant.breaksOnBadTrace && headers["sentry-trace"] && !/^[0-9a-f-]+$/.test(String(headers["sentry-trace"])))
    return reply(500, html);
  reply(200, html, page(pathname, headers, state, plant.cachedPage));
}

const FORM = '<form action=""><input type="hidden" name="$ACTION_REF_1"/><input name="text" value="hello"/></form>';

function page(path: string, headers: IncomingMessage["headers"], state: State, cached: boolean | undefined): string {
  const fresh = renderPage(headers, path === "/" ? FORM : "", state.plant, mixedUp(state));
  if (!cached) return fresh;
  const first = state.frozen.get(path) ?? fresh;
  state.frozen.set(path, first);
  return first;
}

/** With that fault, whoever comes within 5 ms of another gets the other's trace. */
function mixedUp(state: State): string | undefined {
  if (!state.plant.mixedUpVisitors) return undefined;
  const now = Date.now();
  if (!state.lastTraceId || now - state.lastTraceId.at > 5) {
    state.lastTraceId = { id: crypto.randomUUID().replaceAll("-", ""), at: now };
  }
  return state.lastTraceId.id;
}
