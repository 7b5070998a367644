import { getTunnelPath } from "@sentry/core";
import { describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import type { RecordedRequest } from "../../deploy/test/support/recorder/types.ts";
import { page, pageWith, useProxy } from "./use-proxy.ts";

const shared = useProxy({ BASE_PATH: "/base" });
/** The proxy's own trace, which is not sampled. */
const unsampled = /^[0-9a-f]{32}-[0-9a-f]{16}-0$/;

describe("an app with a base path", () => {
  test("is probed there, by HEAD, which Sentry's SDK does not record", async () => {
    const [probe] = (await shared.proxy.web.all()) as [RecordedRequest];
    expect(probe).toMatchObject({ method: "HEAD", url: "/base/healthz" });
    expect(headerOf(probe, "sentry-trace")).toMatch(unsampled);
  });
  test.each(["/monitoring", "/base/monitoring"])("has its tunnel at %s", async (path) => {
    const mark = await shared.proxy.web.count();
    expect((await shared.post({ path })).received).toHaveLength(1);
    const headers = { "content-type": "application/csp-report" };
    expect((await shared.post({ path: `${path}/csp`, headers })).received).toHaveLength(1);
    expect((await shared.post({ path: `${path}/x` })).received).toEqual([]);
    expect(await shared.proxy.web.count()).toBe(mark);
  });
  test("has the SDK's own tunnel path", async () => {
    const path = `/base${getTunnelPath("http://key@ingest:9000/prefix/7")}`;
    expect((await shared.post({ path })).received).toMatchObject([{ url: "/prefix/api/7/envelope/" }]);
  });
  test.each([
    ["files", "/base/_next/static/", "application/javascript"],
    ["files at its assetPrefix", "/v1.2/cdn/_next/static/", "text/css"],
  ])("has its %s stored", async (body, folder, type) => {
    const path = folder + Date.now();
    const headers = { "content-type": type, "cache-control": "public, max-age=31536000, immutable" };
    await shared.proxy.web.answer({ status: 200, headers, body });
    const { received, header } = await shared.through({ path });
    expect(received).toMatchObject([{ url: path }]);
    expect(header("sentry-trace")).toMatch(unsampled);
    expect(await shared.through({ path })).toMatchObject({ answer: { status: 200, body }, received: [] });
  });
  test("has its browser settings at a path, which web answers with any status and none of the client's headers", async () => {
    const settings = 'culvert;desc="dsn=1"';
    await shared.proxy.web.answer({ ...pageWith({ "server-timing": settings }), status: 404 });
    const { answer, header } = await shared.through({ path: "/base/.culvert/settings", headers: { cookie: "a=1" } });
    const expected = { "server-timing": settings, "cache-control": "no-store", "x-content-type-options": "nosniff" };
    expect(answer).toMatchObject({ status: 204, body: "", headers: expected });
    expect(["accept", "cookie"].map(header)).toEqual(["text/html", undefined]);
  });
  test("gets X-Nextjs-Data with the Pages Router's data requests", async () => {
    const path = "/base/_next/data/b/page.json";
    const { header } = await shared.through({ path, headers: { "x-nextjs-data": "1" } });
    expect(header("x-nextjs-data")).toBe("1");
  });
});

test("an app without a health route is ready when it answers 404 there", async () => {
  const body = "x".repeat(100_000);
  await shared.proxy.web.answer({ ...pageWith({ "content-length": "100000" }), status: 404, body });
  // Waits until the proxy says so itself.
  await shared.proxy.restart("proxy");
});

describe("a redirect to where Next listens", () => {
  test.each([
    ["https://0.0.0.0:3000/base/x?a=1", "HERE/base/x?a=1"],
    ["https://[::]:3000", "HERE"],
    ["https://0.0.0.0:3000/login?a=1&u=https%3A%2F%2F0.0.0.0%3A3000%2Fx%3Fb", "HERE/login?a=1&u=ENCODED%2Fx%3Fb"],
    ["/login?from=http%3a%2f%2f%5B%3A%3A%5D%3A3000&b=1", "HERE/login?from=ENCODED&b=1"],
    ["https://sso.example/?u=https://0.0.0.0:3000/back&state=1", "https://sso.example/?u=HERE/back&state=1"],
    ["https://a.example/?u=https://0.0.0.0:3000.example/", "https://a.example/?u=https://0.0.0.0:3000.example/"],
    ["https://0.0.0.0.example/", "https://0.0.0.0.example/"],
  ])("%s leads to %s", async (location, expected) => {
    await shared.proxy.web.answer({ ...page, status: 307, headers: { location } });
    const here = `https://localhost:${shared.proxy.port}`;
    const { answer } = await shared.through();
    expect(answer.headers.location).toBe(expected.replace("HERE", here).replace("ENCODED", encodeURIComponent(here)));
  });
});

const ready = () => shared.proxy.internal("/readyz").catch(String);

test("an app that itself answers 504 can be reached", async () => {
  await shared.proxy.web.answer({ ...page, status: 504 });
  await shared.proxy.on("proxy", "restart", "-t", "5");
  await expect.poll(ready).toBe("ready\n");
  // It may have another port now.
  await shared.proxy.ready();
  expect((await shared.through()).answer).toMatchObject({ status: 504, body: page.body });
  // Nginx counts a request after it has answered.
  await expect.poll(() => shared.proxy.metric('culvert_requests_total{route="page",class="5xx"}')).toBe(1);
  expect(await shared.proxy.internal("/metrics")).not.toContain("culvert_upstream_failures_total{");
});

test("the proxy is not ready while what listens at WEB_UPSTREAM does not speak HTTP, or does not answer", async () => {
  await shared.proxy.web.answer({ ...page, body: "220 mail.example ESMTP\r\n", instead: "raw" });
  await shared.proxy.on("proxy", "restart", "-t", "5");
  await expect.poll(ready).toMatch(/503 web does not speak HTTP: check WEB_UPSTREAM/);
  await shared.proxy.web.answer({ ...page, instead: "reset" });
  await expect.poll(ready).toMatch(/503 web cannot be reached/);
});
