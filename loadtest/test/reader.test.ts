import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { startReader } from "./run-suite.ts";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function reader(env: Record<string, string> = {}): Promise<string> {
  const { url, stop } = await startReader(env);
  stops.push(stop);
  return url;
}

/** A server in place of what the reader asks. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  stops.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ITEMS = '{"type":"event","length":2}\n{}\n';
const [A, B, C] = ["a", "b", "c"].map((letter) => letter.repeat(32)) as [string, string, string];
const envelope = (id: string, items = ITEMS) => `{"event_id":"${id}","trace":{"environment":"loadtest"}}\n${items}`;

async function sent(url: string, id: string, name = "error", traceId = `trace-${id}`): Promise<void> {
  const digest = createHash("sha256").update(ITEMS).digest("hex");
  await fetch(`${url}/sent`, {
    method: "POST",
    body: JSON.stringify({ run: "r", name, id, traceId, size: ITEMS.length, digest }),
  });
}

const result = async (url: string, wait: number) => (await fetch(`${url}/result?run=r&wait=${wait}`)).json();

describe("the reader", () => {
  it("records an ingest's envelopes, and says what is missing and altered, by id", async () => {
    const url = await reader();
    for (const id of [A, B, C]) await sent(url, id);
    const post = (body: string) =>
      fetch(`${url}/prefix/api/7/envelope/`, {
        method: "POST",
        body: gzipSync(body),
        headers: { "content-encoding": "gzip" },
      });
    // The first line may differ: the spool renews sent_at.
    expect(await (await post(envelope(A).replace("{", '{"sent_at":"now",'))).json()).toEqual({ id: A });
    await post(envelope(B, ITEMS.slice(0, -3)));
    expect(await result(url, 0)).toMatchObject({
      source: "the recording ingest",
      sent: 3,
      missing: [{ id: C, traceId: `trace-${C}` }],
      altered: [{ id: B, how: expect.stringMatching(/^sent 31 bytes .* 28 bytes/) }],
    });
    expect(await (await fetch(`${url}/result?run=other&wait=0`)).json()).toMatchObject({ sent: 0 });
  });

  it("follows the local ingest's stream, also after it has restarted", async () => {
    let connections = 0;
    const spotlight = await serve((request, response) => {
      if (request.url !== "/stream") return void response.end(envelope(request.url?.endsWith("1") ? A : B));
      const id = ++connections;
      const data = `data:${JSON.stringify([{ event_id: id === 1 ? A : B, trace: { environment: "loadtest" }, __spotlight_envelope_id: `${id}` }, []])}\n\n`;
      response.write(data);
      if (id === 1) setTimeout(() => request.socket.destroy(), 50);
    });
    const url = await reader({ SPOTLIGHT: spotlight });
    for (const id of [A, B]) await sent(url, id);
    expect(await result(url, 20)).toMatchObject({ source: "the local ingest", sent: 2, missing: [], altered: [] });
  });

  it("ends at once if there is no local ingest to read from", () => {
    const { status, stdout } = spawnSync(process.execPath, [join(import.meta.dirname, "../reader.mjs")], {
      env: { ...process.env, SPOTLIGHT: "http://127.0.0.1:1" },
    });
    expect([status, String(stdout)]).toEqual([1, ""]);
  });

  it("asks Sentry for each event but replays, waits out its rate limit, and compares the trace", async () => {
    const asked: string[] = [];
    const api = await serve((request, response) => {
      asked.push(`${request.url} ${request.headers.authorization}`);
      const json = (status: number, body: unknown, headers = {}) =>
        void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
      if (asked.length === 1) {
        const limit = { "x-sentry-rate-limit-limit": "40", "x-sentry-rate-limit-remaining": "0" };
        const reset = { "x-sentry-rate-limit-reset": String(Math.floor(Date.now() / 1000) + 1) };
        return json(429, { detail: "You are attempting to use this endpoint too frequently." }, { ...limit, ...reset });
      }
      if (request.url?.includes(C)) return json(404, { detail: "Event not found" });
      const id = request.url?.includes(A) ? A : "another";
      json(200, { id, eventID: id, type: "error", contexts: { trace: { trace_id: `trace-${id}`, type: "trace" } } });
    });
    const url = await reader({ SENTRY_API: `${api}/api/0/projects/org/project`, SENTRY_AUTH_TOKEN: "secret" });
    for (const id of [A, B, C]) await sent(url, id);
    await sent(url, "d".repeat(32), "replay");
    expect(await result(url, 1)).toMatchObject({ sent: 3, missing: [{ id: C }], altered: [{ id: B }] });
    expect(asked.slice(0, 2)).toEqual(Array(2).fill(`/api/0/projects/org/project/events/${A}/ Bearer secret`));
    expect(asked.join()).not.toContain("ddd");
  });

  it("looks up a hundred events of many, also after the time is over", async () => {
    let asked = 0;
    const api = await serve((_, response) => {
      asked++;
      response.end(JSON.stringify({ contexts: { trace: { trace_id: "t" } } }));
    });
    const url = await reader({ SENTRY_API: api });
    for (let at = 0; at < 150; at++) await sent(url, String(at).padStart(32, "0"), "error", "t");
    expect(await result(url, 0)).toMatchObject({ sent: 75, missing: [], altered: [] });
    expect(asked).toBe(75);
  });

  it("says that Sentry rejects the token", async () => {
    const api = await serve((_, response) => void response.writeHead(403).end('{"detail":"no permission"}'));
    const url = await reader({ SENTRY_API: api });
    await sent(url, A);
    expect((await result(url, 0)).detail).toMatch(/rejects SENTRY_AUTH_TOKEN \(403\): it needs the scope event:read/);
  });
});

describe("the trend", () => {
  it("keeps the last twenty results, and draws them into the report", () => {
    const out = mkdtempSync(join(tmpdir(), "culvert-trend-"));
    const summary = (run: number) =>
      JSON.stringify({ time: `2026-11-24T00:00:${run}.000Z`, durations: [{ name: "/<b>", count: 9, p95: run }] });
    try {
      mkdirSync(join(out, "history"));
      for (let run = 10; run < 34; run++)
        writeFileSync(join(out, `history/summary-2026-11-24T00-00-${run}-000Z.json`), summary(run));
      writeFileSync(join(out, "summary.json"), summary(34));
      writeFileSync(join(out, "report.html"), "<!-- trend -->");
      expect(spawnSync(process.execPath, [join(import.meta.dirname, "../trend.mjs"), out]).status).toBe(0);
      expect(readdirSync(join(out, "history"))).toHaveLength(20);
      const html = readFileSync(join(out, "report.html"), "utf8");
      expect(html).toContain("34 ms, 15–34 ms</td>");
      expect(html).not.toContain("<b>");
    } finally {
      rmSync(out, { recursive: true });
    }
  });
});
