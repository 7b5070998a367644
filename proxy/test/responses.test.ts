import { connect as connectH2 } from "node:http2";
import { beforeEach, describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import type { Answer } from "../../deploy/test/support/recorder/types.ts";
import { page, useProxy } from "./use-proxy.ts";
import type { Response } from "./wire.ts";

const shared = useProxy({ SERVER_NAME: "app.example.com" });
beforeEach(() => shared.proxy.web.answer(page));

describe("responses", () => {
  test("do not name the software inside", async () => {
    await shared.proxy.web.answer({
      ...page,
      headers: {
        ...page.headers,
        ...{ "x-powered-by": "Next.js", "x-middleware-set-cookie": "a=1", server: "node/24" },
        ...{ "x-request-id": "web's", "alt-svc": "web's", "x-envelope-outcome": "web's" },
      },
    });
    const { answer } = await shared.through();
    expect(answer.headers["x-powered-by"]).toBeUndefined();
    expect(answer.headers["x-middleware-set-cookie"]).toBeUndefined();
    expect(answer.headers.server).toBe("nginx");
    expect(JSON.stringify(answer.headers)).not.toContain("web's");
  });
  test("have noindex on a 404 beside the app's own value, and that alone otherwise", async () => {
    await shared.proxy.web.answer({ ...page, status: 404, headers: { "x-robots-tag": "all" } });
    expect((await shared.through()).answer.headers["x-robots-tag"]).toBe("all, noindex");
    await shared.proxy.web.answer({ ...page, headers: { "x-robots-tag": "nofollow" } });
    expect((await shared.through()).answer.headers["x-robots-tag"]).toBe("nofollow");
    await shared.proxy.web.answer(page);
    expect((await shared.through()).answer.headers["x-robots-tag"]).toBeUndefined();
  });
  test("can't send the proxy elsewhere", async () => {
    await shared.proxy.web.answer({ ...page, headers: { "x-accel-redirect": "/.culvert/unavailable.html" } });
    expect((await shared.through()).answer.body).toBe(page.body);
  });
  test.each([
    ["another site's request with cookies", { cookie: "a=1", "sec-fetch-site": "cross-site" }, undefined],
    ["another site's request without", { "sec-fetch-site": "cross-site" }, "gzip"],
    ["its own request with cookies", { cookie: "a=1", "sec-fetch-site": "same-origin" }, "gzip"],
  ])("to %s are compressed only where sizes give nothing away", async (_, headers, encoding) => {
    await shared.proxy.web.answer({ ...page, body: page.body.repeat(100) });
    const { answer } = await shared.through({ headers: { ...headers, "accept-encoding": "gzip" } });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-encoding"]).toBe(encoding);
  });
  test("stream compressed: what is rendered arrives before the rest is", async () => {
    await shared.proxy.web.answer({ ...page, body: "<p>first</p>".repeat(100), rest: "<p>rest</p>" });
    const { encoding, first } = await new Promise<{ encoding: unknown; first: Buffer }>((resolve, reject) => {
      const session = connectH2(`https://localhost:${shared.proxy.port}`, { rejectUnauthorized: false });
      session.on("error", reject);
      const stream = session.request({ ":path": "/", "accept-encoding": "br, gzip" });
      stream.on("response", (headers) => {
        stream.once("data", async (first: Buffer) => {
          await shared.proxy.web.proceed();
          stream.resume().on("end", () => session.close());
          resolve({ encoding: headers["content-encoding"], first });
        });
      });
    });
    expect(encoding).toBe("gzip");
    expect(first.length).toBeGreaterThan(0);
  });
});

describe("security headers", () => {
  const strict: Answer = { ...page, headers: { ...page.headers, "x-security-headers": "strict" } };
  const strictNames = [
    ...["content-security-policy", "content-security-policy-report-only"],
    ...["cross-origin-opener-policy", "cross-origin-resource-policy", "permissions-policy"],
  ];
  const sent = (answer: Response) => strictNames.filter((name) => answer.headers[name] !== undefined);
  const ask = (headers = { accept: "text/html" }) => shared.through({ host: "app.example.com", headers });

  test("that can break a page go with no answer of an app that does not ask", async () => {
    const { answer } = await ask();
    expect(answer.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "strict-origin-when-cross-origin",
    });
    expect(sent(answer)).toEqual([]);
  });
  test("are strict where the app asks, with a policy whose nonce web got in its request", async () => {
    await shared.proxy.web.answer(strict);
    const { answer, received } = await ask();
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
    expect(answer.headers["x-security-headers"]).toBeUndefined();
    expect(received[0] && headerOf(received[0], "content-security-policy")).toBe(
      answer.headers["content-security-policy"],
    );
    const nonce = String(answer.headers["content-security-policy"]).match(/nonce-(\w+)/)?.[1];
    expect(nonce).not.toBe(answer.headers["x-request-id"]);
    const again = await ask();
    expect(again.answer.headers["content-security-policy"]).not.toBe(answer.headers["content-security-policy"]);
  });
  test.each([
    ["x-nextjs-prerender", "1"],
    ["x-nextjs-cache", "HIT"],
    ["x-nextjs-postponed", "1"],
    ["cache-control", "s-maxage=60, stale-while-revalidate=31535940"],
  ])("are what needs no nonce where the page was built ahead: %s", async (name, value) => {
    await shared.proxy.web.answer({ ...strict, headers: { ...strict.headers, [name]: value } });
    const { answer } = await ask();
    expect(answer.headers["content-security-policy"]).toMatch(/^img-src .*object-src 'none'.*base-uri 'none'/);
    expect(answer.headers["content-security-policy"]).not.toMatch(/script-src|style-src|default-src|nonce-/);
    expect(answer.headers["cross-origin-resource-policy"]).toBe("same-origin");
  });
  test("have no nonce for what is no document: njs takes memory while a stream is open", async () => {
    await shared.proxy.web.answer(strict);
    const { answer, received } = await ask({ accept: "text/event-stream" });
    expect(received[0] && headerOf(received[0], "content-security-policy")).toBeUndefined();
    expect(answer.headers["content-security-policy"]).toMatch(/^img-src /);
  });
  test.each([
    ["that asks", strict],
    ["that does not", page],
  ])("are the app's own where it has its own, %s", async (_, answer) => {
    const own = {
      "content-security-policy": "default-src *",
      "reporting-endpoints": 'own="/reports"',
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "unsafe-none",
      "cross-origin-resource-policy": "cross-origin",
      "permissions-policy": "camera=*",
    };
    await shared.proxy.web.answer({ ...answer, headers: { ...answer.headers, ...own } });
    expect((await ask()).answer.headers).toMatchObject(own);
  });
  test("with the development certificate there is no HSTS", async () => {
    expect((await ask()).answer.headers["strict-transport-security"]).toBeUndefined();
  });
});
