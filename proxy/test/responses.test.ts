import { getTunnelPath } from "@sentry/core";
import { describe, expect, test } from "vitest";
import type { Answer } from "../../deploy/test/support/recorder/types.ts";
import { page, useProxy } from "./use-proxy.ts";
import type { Response } from "./wire.ts";

const shared = useProxy({ SERVER_NAME: "app.example.com", WEBSOCKET_PATH: "/socket" });

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
    expect(Object.keys(answer.headers).filter((name) => /powered|middleware/.test(name))).toEqual([]);
    expect(answer.headers.server).toBe("nginx");
    expect(JSON.stringify(answer.headers)).not.toContain("web's");
  });
  const sdkPath = String(getTunnelPath("http://key@ingest:9000/prefix/7"));
  const hidden = ["/.culvert/page", "/.culvert/x"];
  const tunnel = ["/monitoring", "/monitoring/csp", "/monitoring/x", sdkPath];
  test.each(["/page", "/_next/static/x.js", "/socket/x", ...hidden, ...tunnel])(
    "that are a 404 have noindex: %s",
    async (path) => {
      const none = { ...page, status: 404, headers: { "x-robots-tag": "all" } };
      await Promise.all([shared.proxy.web.answer(none), shared.proxy.ingest.answer(none)]);
      const type = path.endsWith("/csp") ? "application/csp-report" : "text/plain";
      const post = tunnel.includes(path) && { method: "POST", headers: { "content-type": type }, body: "{}" };
      const { answer } = await shared.through({ path, ...post });
      expect([answer.status, String(answer.headers["x-robots-tag"]).split(", ").at(-1)]).toEqual([404, "noindex"]);
    },
  );
  test("that are no 404 have only the app's own", async () => {
    for (const own of [undefined, "noarchive"]) {
      await shared.proxy.web.answer({ ...page, headers: { ...page.headers, ...(own && { "x-robots-tag": own }) } });
      expect((await shared.through()).answer.headers["x-robots-tag"]).toBe(own);
    }
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
    const lines = ["GET / HTTP/1.1", "Host: localhost", "Accept-Encoding: br, gzip", "", ""];
    const { answer } = await shared.write(lines.join("\r\n"), /\r\n\r\n./s);
    expect(answer).toMatch(/^HTTP\/1\.1 200 .*\r\nContent-Encoding: gzip\r\n/s);
    await shared.proxy.web.proceed();
  });
});

describe("security headers", () => {
  const strict: Answer = { ...page, headers: { ...page.headers, "x-security-headers": "strict" } };
  const strictNames = [
    ...["content-security-policy", "content-security-policy-report-only"],
    ...["cross-origin-opener-policy", "cross-origin-resource-policy", "permissions-policy"],
  ];
  const always = { "x-content-type-options": "nosniff", "referrer-policy": "strict-origin-when-cross-origin" };
  const sent = (answer: Response) => strictNames.filter((name) => answer.headers[name] !== undefined);
  const ask = (headers: Record<string, string> = { accept: "text/html" }) =>
    shared.through({ host: "app.example.com", headers });

  test("that can break a page go with no answer of an app that does not ask", async () => {
    const { answer } = await ask();
    expect(answer.headers).toMatchObject(always);
    expect(sent(answer)).toEqual([]);
    // With the development certificate.
    expect(answer.headers["strict-transport-security"]).toBeUndefined();
  });
  test("are strict where the app asks, with a policy whose nonce web got in its request", async () => {
    await shared.proxy.web.answer(strict);
    const { answer, header } = await ask();
    expect(answer.headers).toMatchObject({
      ...always,
      "cross-origin-opener-policy": "same-origin-allow-popups",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy": expect.stringContaining("camera=()"),
      "content-security-policy": expect.stringMatching(
        /script-src 'nonce-[0-9a-f]{32}' 'strict-dynamic';.*frame-ancestors 'self'.*report-uri \/monitoring\/csp/,
      ),
    });
    expect(answer.headers["x-security-headers"]).toBeUndefined();
    const policy = String(answer.headers["content-security-policy"]);
    expect(header("content-security-policy")).toBe(policy);
    const nonce = policy.match(/nonce-(\w+)/)?.[1];
    expect(nonce).not.toBe(answer.headers["x-request-id"]);
    expect((await ask()).answer.headers["content-security-policy"]).not.toContain(nonce);
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
  test("have a nonce for a page that a service worker fetches", async () => {
    await shared.proxy.web.answer(strict);
    const { answer, header } = await ask({ accept: "*/*" });
    const policy = String(answer.headers["content-security-policy"]);
    expect(policy).toContain("nonce-");
    expect(header("content-security-policy")).toBe(policy);
  });
  // A client's separator says nothing of another field.
  test.each<Record<string, string>>([
    ...[{ accept: "text/event-stream" }, { accept: "*/*", rsc: "1" }, { accept: "*/*|" }],
    ...["rsc", "next-action"].map((name) => ({ accept: "*/*", [name]: "|" })),
  ])("have no nonce for what is no document: %j", async (headers) => {
    await shared.proxy.web.answer(strict);
    const { answer, header } = await ask(headers);
    expect(header("content-security-policy")).toBeUndefined();
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
});

const html = { accept: "text/html,*/*" };

describe("CONTENT_SECURITY_POLICY=report", () => {
  const report = useProxy({ CONTENT_SECURITY_POLICY: "report" });
  test("tells of every page what the strict policy would do to it, and stops nothing", async () => {
    const { answer, header } = await report.through({ headers: html });
    expect(answer.headers["content-security-policy-report-only"]).toContain("'strict-dynamic'");
    expect(answer.headers["content-security-policy"]).toBeUndefined();
    expect(answer.headers["content-security-policy-report-only"]).toMatch(/report-uri \/monitoring\/csp$/);
    expect(header("content-security-policy")).toContain("nonce-");
  });
  test("leaves an app its own policy to try, and its own endpoints", async () => {
    const own = {
      "content-security-policy-report-only": "default-src 'self'; report-to own",
      "reporting-endpoints": 'own="/reports"',
    };
    await report.proxy.web.answer({ ...page, headers: { ...page.headers, ...own } });
    expect((await report.through({ headers: html })).answer.headers).toMatchObject(own);
  });
});

describe("CONTENT_SECURITY_POLICY=off", () => {
  const off = useProxy({ CONTENT_SECURITY_POLICY: "off" });
  test("sends no policy to browsers and no nonce to web, but an app's own policy and that of the error page", async () => {
    const strict = { ...page, headers: { ...page.headers, "x-security-headers": "strict" } };
    await off.proxy.web.answer(strict);
    const { answer, header } = await off.through({ headers: html });
    expect(answer.headers["content-security-policy"]).toBeUndefined();
    expect(answer.headers["permissions-policy"]).toContain("camera=()");
    expect(header("content-security-policy")).toBeUndefined();
    const own = { "content-security-policy": "default-src *" };
    await off.proxy.web.answer({ ...strict, headers: { ...strict.headers, ...own } });
    expect((await off.through({ headers: html })).answer.headers).toMatchObject(own);
    await off.proxy.web.answer({ ...page, instead: "reset" });
    const error = await off.through({ headers: html });
    expect(error.answer.headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
  });
});
