import type { ClientRequest, IncomingMessage } from "node:http";
import { request } from "node:https";
import { describe, expect, test } from "vitest";
import { hardened, label, must } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";
import { page, useProxy } from "./use-proxy.ts";
import { type Request, type Response, send } from "./wire.ts";

const trusted = { TRUSTED_PROXIES: "0.0.0.0/0" };
const from = (client: string, headers = {}) => ({ "x-forwarded-for": client, ...headers });
const html = { accept: "text/html" };
const json = { accept: "application/json" };
const envelope = { method: "POST", path: "/monitoring", body: '{}\n{"type":"event"}\n{}\n' };
const file = "/_next/static/chunks/main-0123456789abcdef.js";
const picture = "/_next/image?url=%2Fa.png&w=64&q=75";

/** Sends these requests, 50 at a time. */
async function sendAll(port: number, requests: Request[]): Promise<Response[]> {
  const responses: Response[] = [];
  const left = requests.entries();
  const worker = async () => {
    for (const [i, one] of left) responses[i] = await send(port, one);
  };
  await Promise.all(Array.from({ length: 50 }, worker));
  return responses;
}

/** Begins a request that nobody waits for. */
function open(port: number, client: string): ClientRequest {
  const options = { host: "127.0.0.1", port, path: "/hangs", agent: false, rejectUnauthorized: false };
  const outgoing = request({ ...options, headers: { host: "localhost", ...from(client) } });
  outgoing.on("error", () => undefined).end();
  return outgoing;
}

/** Of a line of the access log. */
type Logged = { path: string; status: number; reason: string; seconds: number; upstream_seconds: string };

const rejected = (responses: Response[]) => responses.filter(({ status }) => status === 429);

describe("REQUEST_RATE_PER_CLIENT", () => {
  const shared = useProxy({ ...trusted, REQUEST_RATE_PER_CLIENT: "1" });
  const flood = (path: string, client: (n: number) => string, headers = {}) =>
    sendAll(
      shared.proxy.port,
      Array.from({ length: 300 }, (_, n) => ({ path, headers: from(client(n), headers) })),
    );

  test.each([
    ["pages", "/page", "203.0.113.1", html, /^<!doctype html>.*Too many requests/s],
    [
      "pages, for programs",
      "/page",
      "203.0.113.2",
      json,
      /^\{"reason":"too many requests; try again in a few seconds"/,
    ],
    ["files", file, "203.0.113.3", json, /^\{"reason":"too many requests/],
    ["images", picture, "203.0.113.4", html, /Too many requests/],
    ["a /64 of IPv6", "/page", "2001:db8::1:", json, /^\{"reason":"too many requests/],
  ])("rejects too many requests for %s with 429, of this client only", async (_, path, client, headers, body) => {
    const type = path === file ? "application/javascript" : "text/html";
    await shared.proxy.web.answer({ ...page, headers: { "content-type": type } });
    const mark = await shared.proxy.web.count();
    const responses = await flood(path, (n) => (client.includes(":") ? client + n.toString(16) : client), headers);
    const [first] = rejected(responses);
    expect(first).toMatchObject({ body: expect.stringMatching(body), headers: { "retry-after": "5" } });
    expect(responses.length - rejected(responses).length).toBeGreaterThanOrEqual(200);
    if (path === "/page") expect((await shared.proxy.web.count()) - mark).toBe(300 - rejected(responses).length);

    expect((await send(shared.proxy.port, { path, headers: from("198.51.100.1") })).status).toBe(200);
    expect((await send(shared.proxy.port, { ...envelope, headers: from(client.replace(/:$/, "0")) })).status).toBe(200);
  });

  test("does not apply to health probes", async () => {
    const probe = "for _ in $(seq 250); do echo http://127.0.0.1:8081/healthz; done | xargs curl -fsS";
    const said = await shared.proxy.on("proxy", "exec", "sh", "-c", probe);
    expect(said.match(/^ok$/gm)).toHaveLength(250);
  });

  test("passes a 429 of web as it is", async () => {
    await shared.proxy.web.answer({ status: 429, headers: { "content-type": "text/plain" }, body: "web's own" });
    const { answer } = await shared.through({ headers: from("203.0.113.9") });
    expect(answer).toMatchObject({ status: 429, body: "web's own" });
  });
});

describe("PAGE_RATE_PER_CLIENT", () => {
  const shared = useProxy({
    ...trusted,
    PAGE_RATE_PER_CLIENT: "1",
    // Evaluated as well; the longest wait applies.
    REQUEST_RATE_PER_CLIENT: "1000",
    OPEN_REQUESTS_TOTAL: "70",
  });
  const logged = async (): Promise<Logged[]> => {
    const lines = (await shared.proxy.on("proxy", "logs")).split("\n");
    return lines.filter((line) => line.startsWith('{"time"')).map((line) => JSON.parse(line));
  };

  test("pages above it wait their turn; those of others, files and envelopes do not", async () => {
    await shared.proxy.web.answer(page);
    const flood = Array.from({ length: 15 }, (_, n) => ({
      ...(n % 3 === 0 ? { method: "POST", body: "a=1" } : {}),
      ...{ path: "/page", headers: from("203.0.113.1", html) },
    }));
    let answered = 0;
    const responses = flood.map(async (one) => {
      const { status } = await send(shared.proxy.port, one);
      answered++;
      return status;
    });
    await expect.poll(() => answered, { timeout: 60_000 }).toBeGreaterThan(0);
    const others = [
      { path: "/page", headers: from("198.51.100.1", html) },
      { path: picture, headers: from("203.0.113.1") },
      { ...envelope, headers: from("203.0.113.1") },
    ];
    const answers = await Promise.all(others.map((one) => send(shared.proxy.port, one)));
    expect(answered).toBeLessThan(flood.length);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await Promise.all(responses)).toEqual(flood.map(() => 200));
    // The last one waits for 13 seconds.
    const waited = ({ path, seconds, upstream_seconds: web }: Logged) => path === "/page" && seconds - Number(web) > 5;
    await expect.poll(async () => (await logged()).some(waited), { timeout: 60_000 }).toBe(true);
  });

  test("a client's wait is bounded; pages that wait count as open, until their clients have given up", async () => {
    const { proxy } = shared;
    const mark = await proxy.web.count();
    const waiting: ClientRequest[] = [];
    let rejected = 0;
    // 61 wait, less one a second.
    for (let n = 0; n < 120; n++) {
      const count = ({ statusCode, headers }: IncomingMessage) => {
        if (statusCode === 429 && headers["retry-after"] === "5") rejected++;
      };
      waiting.push(open(proxy.port, "203.0.113.2").on("response", count));
    }
    await expect.poll(() => rejected, { timeout: 60_000 }).toBeGreaterThan(0);
    expect((await proxy.web.count()) - mark).toBeLessThan(61);
    const limited = ({ status, reason }: Logged) => status === 429 && reason === "rate_limit";
    await expect.poll(async () => (await logged()).some(limited), { timeout: 60_000 }).toBe(true);

    const ask = async () => (await send(proxy.port, { path: picture, headers: from("198.51.100.2") })).status;
    const another = () => {
      for (let n = 0; n < 10; n++) waiting.push(open(proxy.port, "203.0.113.3"));
      return ask();
    };
    await expect.poll(another, { timeout: 60_000 }).toBe(503);
    for (const one of waiting) one.destroy();
    await expect.poll(ask, { timeout: 60_000 }).toBe(200);
  });
});

describe("OPEN_REQUESTS_PER_CLIENT", () => {
  const shared = useProxy({ ...trusted, OPEN_REQUESTS_PER_CLIENT: "3" });

  test("rejects what exceeds it with 429, of this client only, until a request has ended", async () => {
    await shared.proxy.web.answer({ ...page, instead: "hang" });
    const mark = await shared.proxy.web.count();
    const requests = Array.from({ length: 3 }, () => open(shared.proxy.port, "203.0.113.1"));
    await expect.poll(() => shared.proxy.web.count(), { timeout: 60_000 }).toBe(mark + 3);
    await shared.proxy.web.answer(page);

    const ask = async (path: string, client: string) =>
      (await send(shared.proxy.port, { path, headers: from(client) })).status;
    expect(await ask("/page", "203.0.113.1")).toBe(429);
    expect(await ask(file, "203.0.113.1")).toBe(429);
    expect(await ask("/page", "198.51.100.1")).toBe(200);
    expect((await send(shared.proxy.port, { ...envelope, headers: from("203.0.113.1") })).status).toBe(200);
    for (const one of requests) one.destroy();
    await expect.poll(() => ask("/page", "203.0.113.1"), { timeout: 60_000 }).toBe(200);
  });
});

describe("without these settings", () => {
  const shared = useProxy(trusted);
  test("one client may send any number of requests", async () => {
    const all = Array.from({ length: 400 }, () => ({ path: "/page", headers: from("203.0.113.1") }));
    const responses = await sendAll(shared.proxy.port, all);
    expect(responses.filter(({ status }) => status !== 200)).toEqual([]);
  });
});

test("`off` and other totals are written into the configuration", async () => {
  const image = await build();
  const render = async (settings: string[]) =>
    (await must("run", "--rm", label, ...hardened, ...settings.map((one) => `--env=${one}`), image, "render")).match(
      /^limit_conn (?:client_open|client_pages|open_requests) .*$/gm,
    );
  const dsn = "SENTRY_DSN=http://key@ingest:9000/7";
  const web = "WEB_UPSTREAM=127.0.0.1:9";
  expect(await render([dsn, web])).toEqual(["limit_conn client_open 1000;", "limit_conn open_requests 3000;"]);
  const off = ["OPEN_REQUESTS_PER_CLIENT=off", "OPEN_PAGES_PER_REPLICA=30", "OPEN_REQUESTS_TOTAL=5000"];
  expect(await render([dsn, web, ...off])).toEqual(["limit_conn open_requests 5000;"]);
});
