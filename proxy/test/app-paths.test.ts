import { getTunnelPath } from "@sentry/core";
import { describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { page, useProxy } from "./use-proxy.ts";

const shared = useProxy({ BASE_PATH: "/base" });

describe("an app with a base path", () => {
  test("is probed there, by HEAD", async () => {
    expect((await shared.proxy.web.all())[0]).toMatchObject({ method: "HEAD", url: "/base/healthz" });
  });
  test.each(["/monitoring", "/base/monitoring"])("has its tunnel at %s", async (path) => {
    const mark = await shared.proxy.web.count();
    expect((await shared.post({ path })).received).toHaveLength(1);
    const headers = { "content-type": "application/csp-report" };
    expect((await shared.post({ path: `${path}/csp`, headers })).received).toHaveLength(1);
    expect((await shared.post({ path: `${path}/x` })).received).toEqual([]);
    expect(await shared.proxy.web.count()).toBe(mark);
  });
  test.each(["", "/base"])("has the SDK's own tunnel path below '%s'", async (base) => {
    const path = `${base}${getTunnelPath("http://key@ingest:9000/prefix/7")}`;
    expect((await shared.post({ path })).received).toMatchObject([{ url: "/prefix/api/7/envelope/" }]);
  });
  test.each([
    ["files", "/base/_next/static/chunks/a.js", "application/javascript", "public, max-age=31536000, immutable"],
    ["images", "/base/_next/image?url=%2Fbase%2Fa.png&w=64&q=75", "image/webp", "public, max-age=60"],
  ])("has its %s stored", async (body, path, type, cacheControl) => {
    const headers = { "content-type": type, "cache-control": cacheControl };
    await shared.proxy.web.answer({ status: 200, headers, body });
    expect((await shared.through({ path })).received).toMatchObject([{ url: path }]);
    expect(await shared.through({ path })).toMatchObject({ answer: { status: 200, body }, received: [] });
  });
  test.each([
    ["/base/_next/data/b/page.json", "1"],
    ["/base/page", undefined],
  ])("gets X-Nextjs-Data with %s: %s", async (path, expected) => {
    const { received } = await shared.through({ path, headers: { "x-nextjs-data": "1" } });
    expect(received[0] && headerOf(received[0], "x-nextjs-data")).toBe(expected);
  });
});

describe("an app without a health route", () => {
  test.each([404, 308])("is ready when it answers %i there", async (status) => {
    const headers = { ...page.headers, "content-length": "100000" };
    await shared.proxy.web.answer({ ...page, status, headers, body: "x".repeat(100_000) });
    // Waits until the proxy says so itself.
    await shared.proxy.restart("proxy");
  });
});

describe("a redirect to where Next listens", () => {
  test.each(["https://0.0.0.0:3000", "http://0.0.0.0:3000", "https://[::]:3000"])("%s leads here", async (origin) => {
    await shared.proxy.web.answer({ ...page, status: 307, headers: { location: `${origin}/base/x?a=1` } });
    const { answer } = await shared.through();
    expect(answer.headers.location).toBe(`https://localhost:${shared.proxy.port}/base/x?a=1`);
  });
  test("and to another place stays as it is", async () => {
    const location = "https://other.example/?next=https://0.0.0.0:3000/";
    await shared.proxy.web.answer({ ...page, status: 307, headers: { location } });
    expect((await shared.through()).answer.headers.location).toBe(location);
  });
});
