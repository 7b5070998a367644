import { connect as connectH2 } from "node:http2";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Edge, startEdge } from "./edge.ts";
import { headerOf } from "./recorder/client.ts";
import type { Answer } from "./recorder/types.ts";
import { type Request, raw, send } from "./wire.ts";

const page: Answer = { status: 200, headers: { "content-type": "text/html" }, body: "<p>hello</p>" };

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({ SERVER_NAME: "app.example.com" });
});
afterAll(() => edge?.stop());
beforeEach(() => edge.web.answer(page));

/** Sends, and returns the answer with what web received of it. */
async function through(request: Partial<Request> = {}) {
  const mark = await edge.web.count();
  const answer = await send(edge.port, { path: "/page", ...request });
  return { answer, received: (await edge.web.all()).slice(mark) };
}

describe("web believes what the proxy saw, not what a client says", () => {
  test("host, scheme, address and request id are the proxy's", async () => {
    const forged = {
      "x-forwarded-host": "evil.example",
      "x-forwarded-for": "6.6.6.6",
      "x-forwarded-proto": "http",
      "x-forwarded-port": "1",
      "x-real-ip": "6.6.6.6",
      forwarded: "for=6.6.6.6",
      "x-request-id": "mine",
      "content-security-policy": "script-src 'nonce-mine'",
    };
    const { answer, received } = await through({ headers: forged, host: "app.example.com" });
    const [request] = received;
    if (!request) throw new Error("web received nothing");
    const host = `app.example.com:${edge.port}`;
    expect(headerOf(request, "host")).toBe(host);
    expect(headerOf(request, "x-forwarded-host")).toBe(host);
    expect(headerOf(request, "x-forwarded-proto")).toBe("https");
    expect(headerOf(request, "x-request-id")).toMatch(/^[0-9a-f]{32}$/);
    expect(headerOf(request, "x-request-id")).toBe(answer.headers["x-request-id"]);
    expect(request.rawHeaders.join()).not.toMatch(/6\.6\.6\.6|evil|mine/);
  });
  test("over HTTP/2 too", async () => {
    const mark = await edge.web.count();
    const session = connectH2(`https://localhost:${edge.port}`, { rejectUnauthorized: false });
    await new Promise((resolve, reject) => {
      session.on("error", reject);
      const stream = session.request({ ":path": "/h2", "x-forwarded-host": "evil.example" });
      stream.on("error", reject).on("response", resolve).resume();
    });
    session.close();
    const [request] = (await edge.web.all()).slice(mark);
    expect(request && headerOf(request, "host")).toBe(`localhost:${edge.port}`);
    expect(request && headerOf(request, "x-forwarded-host")).toBe(`localhost:${edge.port}`);
  });
  test("headers by which Next talks to itself are dropped", async () => {
    const names = [
      "x-middleware-subrequest",
      "x-middleware-rewrite",
      "x-middleware-redirect",
      "x-middleware-set-cookie",
      "x-middleware-skip",
      "x-middleware-override-headers",
      "x-middleware-next",
      "x-now-route-matches",
      "x-matched-path",
      "x-invoke-path",
      "x-invoke-query",
      "x-invoke-output",
      "x-invoke-status",
      "x-invoke-error",
      "next-resume",
      "x-next-resume-state-length",
      "x-nextjs-data",
      "upgrade",
    ];
    const { received } = await through({ headers: Object.fromEntries(names.map((name) => [name, "1"])) });
    const seen = received[0]?.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
    expect(seen?.filter((name) => names.includes(name))).toEqual([]);
  });
  test("headers of React Server Components, actions and the app pass", async () => {
    const headers = {
      rsc: "1",
      "next-router-state-tree": "x",
      "next-router-prefetch": "1",
      "next-router-segment-prefetch": "/x",
      "next-url": "/",
      "next-action": "ab",
      cookie: "a=1",
      authorization: "Bearer x",
      "sentry-trace": "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
      baggage: "a=b",
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      origin: "https://localhost",
      "accept-language": "de",
    };
    const { received } = await through({ headers });
    for (const [name, value] of Object.entries(headers))
      expect(received[0] && headerOf(received[0], name), name).toBe(value);
  });
});

describe("a trace header that is none does not reach web", () => {
  test.each([
    ["sentry-trace", `${"0".repeat(32)}-b7ad6b7169203331-1`],
    ["sentry-trace", `0af7651916cd43dd8448eb211c80319c-${"0".repeat(16)}`],
    ["sentry-trace", "0af7651916cd43dd8448eb211c80319c"],
    ["sentry-trace", "<script>"],
    ["traceparent", `00-${"0".repeat(32)}-00f067aa0ba902b7-01`],
    ["traceparent", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
  ])("%s: %s", async (name, value) => {
    const { answer, received } = await through({ headers: { [name]: value } });
    expect(answer.status).toBe(200);
    expect(received[0] && headerOf(received[0], name)).toBeUndefined();
  });
});

describe("names that are not served", () => {
  test.each(["other.example", "app.example.com.evil.example", "xapp.example.com"])("%s gets 421", async (host) => {
    const { answer, received } = await through({ host });
    expect(answer.status).toBe(421);
    expect(received).toEqual([]);
  });
  test("an absolute address of another host gets 421, whatever Host says", async () => {
    const answer = await raw(
      edge.port,
      "GET https://evil.example/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    );
    expect(answer).toMatch(/^HTTP\/1\.1 421 /);
  });
  test("an absolute address of ours wins over a Host that lies", async () => {
    const mark = await edge.web.count();
    await raw(edge.port, "GET https://localhost/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    const [request] = (await edge.web.all()).slice(mark);
    expect(request && headerOf(request, "host")).toBe("localhost");
  });
});

describe("requests that two servers could read differently never reach web", () => {
  const body = "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
  test.each([
    [
      "Content-Length with Transfer-Encoding",
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
    ],
    [
      "two Content-Lengths",
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde`,
    ],
    ["two Hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"],
    ["no Host", "GET / HTTP/1.1\r\n\r\n"],
    ["no Host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n"],
    ["a folded header", "GET / HTTP/1.1\r\nHost: localhost\r\nX-A: 1\r\n folded\r\n\r\n"],
    ["a space before the colon", "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding : chunked\r\n\r\n"],
    [
      "an unknown Transfer-Encoding",
      "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    ],
    [
      "a chunk size that is none",
      "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n",
    ],
    ["TRACE", "TRACE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"],
    ["CONNECT", "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"],
    ["a header of 40 kB", `GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ${"a".repeat(40_000)}\r\n\r\n`],
    ["an address of 40 kB", `GET /${"a".repeat(40_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
    ["a zero byte in a header", "GET / HTTP/1.1\r\nHost: localhost\r\nX-A: a\0b\r\n\r\n"],
  ])("%s", async (_, bytes) => {
    const mark = await edge.web.count();
    expect(await raw(edge.port, bytes)).toMatch(/^HTTP\/1\.1 (4\d\d|501) /);
    expect(await edge.web.count()).toBe(mark);
  });
});

describe("answers", () => {
  test("say nothing of what runs inside", async () => {
    await edge.web.answer({
      ...page,
      headers: { ...page.headers, "x-powered-by": "Next.js", "x-middleware-set-cookie": "a=1", server: "node/24" },
    });
    const { answer } = await through();
    expect(answer.headers["x-powered-by"]).toBeUndefined();
    expect(answer.headers["x-middleware-set-cookie"]).toBeUndefined();
    expect(answer.headers.server).toBe("nginx");
  });
  test("carry noindex on a 404 once, and the app's own word otherwise", async () => {
    await edge.web.answer({ ...page, status: 404, headers: { "x-robots-tag": "all" } });
    expect((await through()).answer.headers["x-robots-tag"]).toBe("noindex");
    await edge.web.answer({ ...page, headers: { "x-robots-tag": "nofollow" } });
    expect((await through()).answer.headers["x-robots-tag"]).toBe("nofollow");
    await edge.web.answer(page);
    expect((await through()).answer.headers["x-robots-tag"]).toBeUndefined();
  });
  test("can't send the proxy elsewhere", async () => {
    await edge.web.answer({ ...page, headers: { "x-accel-redirect": "/.culvert/unavailable.html" } });
    expect((await through()).answer.body).toBe(page.body);
  });
  test.each([
    ["another site's request with cookies", { cookie: "a=1", "sec-fetch-site": "cross-site" }, undefined],
    ["another site's request without", { "sec-fetch-site": "cross-site" }, "gzip"],
    ["its own request with cookies", { cookie: "a=1", "sec-fetch-site": "same-origin" }, "gzip"],
  ])("to %s are compressed only where sizes give nothing away", async (_, headers, encoding) => {
    await edge.web.answer({ ...page, body: page.body.repeat(100) });
    const { answer } = await through({ headers: { ...headers, "accept-encoding": "gzip" } });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-encoding"]).toBe(encoding);
  });
  test.each(["gzip", "br"])(
    "stream compressed with %s: what is rendered arrives before the rest is",
    async (encoding) => {
      await edge.web.answer({ ...page, body: "<p>first</p>".repeat(100), rest: "<p>rest</p>" });
      const first = await new Promise<Buffer>((resolve, reject) => {
        const session = connectH2(`https://localhost:${edge.port}`, { rejectUnauthorized: false });
        session.on("error", reject);
        const stream = session.request({ ":path": "/", "accept-encoding": encoding });
        stream.on("response", (headers) => expect(headers["content-encoding"]).toBe(encoding));
        stream.once("data", async (chunk: Buffer) => {
          await edge.web.proceed();
          stream.resume().on("end", () => session.close());
          resolve(chunk);
        });
      });
      expect(first.length).toBeGreaterThan(0);
    },
  );
});

describe("security headers", () => {
  test("stand on every answer, with a policy whose nonce web got in its request", async () => {
    const { answer, received } = await through({ host: "app.example.com" });
    expect(answer.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "strict-origin-when-cross-origin",
      "cross-origin-opener-policy": "same-origin-allow-popups",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy": expect.stringContaining("camera=()"),
      "content-security-policy": expect.stringMatching(
        /script-src 'nonce-[0-9a-f]{32}' 'strict-dynamic';.*frame-ancestors 'self'.*report-uri \/monitoring\/csp/,
      ),
    });
    expect(received[0] && headerOf(received[0], "content-security-policy")).toBe(
      answer.headers["content-security-policy"],
    );
    const again = await through({ host: "app.example.com" });
    expect(again.answer.headers["content-security-policy"]).not.toBe(answer.headers["content-security-policy"]);
  });
  test("the app's own policy wins", async () => {
    const own = {
      "content-security-policy": "default-src *",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "unsafe-none",
    };
    await edge.web.answer({ ...page, headers: own });
    expect((await through()).answer.headers).toMatchObject(own);
  });
  test("with the development certificate there is no HSTS", async () => {
    expect((await through({ host: "app.example.com" })).answer.headers["strict-transport-security"]).toBeUndefined();
  });
});
