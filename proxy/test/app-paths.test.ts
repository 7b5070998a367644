import { getTunnelPath } from "@sentry/core";
import { beforeEach, describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { page, useProxy } from "./use-proxy.ts";
import { envelope } from "./use-tunnel.ts";
import { send } from "./wire.ts";

const shared = useProxy({ BASE_PATH: "/base" });
beforeEach(() => shared.proxy.web.answer(page));

const post = (path: string, type: string, body: string) =>
  send(shared.proxy.port, { method: "POST", path, headers: { "content-type": type }, body });

describe("an app with a base path", () => {
  test("is probed there, by HEAD", async () => {
    const [first] = await shared.proxy.web.all();
    expect(first).toMatchObject({ method: "HEAD", url: "/base/healthz" });
  });
  test.each(["/monitoring", "/base/monitoring"])("has its tunnel at %s", async (path) => {
    const mark = [await shared.proxy.web.count(), await shared.proxy.ingest.count()];
    expect((await post(path, "text/plain", envelope)).status).toBe(200);
    expect((await post(`${path}/csp`, "application/csp-report", "{}")).status).toBe(200);
    expect((await post(`${path}/x`, "text/plain", envelope)).status).toBe(404);
    expect([await shared.proxy.web.count(), await shared.proxy.ingest.count()]).toEqual([mark[0], (mark[1] ?? 0) + 2]);
  });
  test.each(["", "/base"])("has the SDK's own tunnel path below '%s'", async (base) => {
    const mark = await shared.proxy.ingest.count();
    const path = `${base}${getTunnelPath("http://key@ingest:9000/prefix/7")}`;
    expect((await post(path, "application/x-sentry-envelope", envelope)).status).toBe(200);
    expect(await shared.proxy.ingest.all(mark)).toMatchObject([{ url: "/prefix/api/7/envelope/" }]);
  });
  test("has its files stored", async () => {
    const headers = {
      "content-type": "application/javascript",
      "cache-control": "public, max-age=31536000, immutable",
    };
    await shared.proxy.web.answer({ status: 200, headers, body: "1" });
    const path = "/base/_next/static/chunks/a.js";
    expect((await shared.through({ path })).received).toMatchObject([{ url: path }]);
    expect(await shared.through({ path })).toMatchObject({ answer: { status: 200, body: "1" }, received: [] });
  });
  test("has its images stored", async () => {
    const headers = { "content-type": "image/webp", "cache-control": "public, max-age=60" };
    await shared.proxy.web.answer({ status: 200, headers, body: "webp" });
    const path = "/base/_next/image?url=%2Fbase%2Fa.png&w=64&q=75";
    expect((await shared.through({ path })).received).toMatchObject([{ url: path }]);
    expect((await shared.through({ path })).received).toEqual([]);
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
  test.each([404, 401, 308])("is ready when it answers %i there", async (status) => {
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
