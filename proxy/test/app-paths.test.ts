import { getTunnelPath } from "@sentry/core";
import { beforeEach, describe, expect, test } from "vitest";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { page, useEdge } from "./use-edge.ts";
import { envelope } from "./use-tunnel.ts";
import { send } from "./wire.ts";

const shared = useEdge({ BASE_PATH: "/base", HEALTH_PATH: "/up" });
beforeEach(() => shared.edge.web.answer(page));

const post = (path: string, type: string, body: string) =>
  send(shared.edge.port, { method: "POST", path, headers: { "content-type": type }, body });

describe("an app with a base path", () => {
  test("is asked for its health there, by HEAD", async () => {
    const [first] = await shared.edge.web.all();
    expect(first).toMatchObject({ method: "HEAD", url: "/base/up" });
  });
  test.each(["/monitoring", "/base/monitoring"])("has its tunnel at %s", async (path) => {
    const mark = [await shared.edge.web.count(), await shared.edge.ingest.count()];
    expect((await post(path, "text/plain", envelope)).status).toBe(200);
    expect((await post(`${path}/csp`, "application/csp-report", "{}")).status).toBe(200);
    expect((await post(`${path}/x`, "text/plain", envelope)).status).toBe(404);
    expect([await shared.edge.web.count(), await shared.edge.ingest.count()]).toEqual([mark[0], (mark[1] ?? 0) + 2]);
  });
  test.each(["", "/base"])("has the SDK's own tunnel path below '%s'", async (base) => {
    const mark = await shared.edge.ingest.count();
    const path = `${base}${getTunnelPath("http://key@ingest:9000/prefix/7")}`;
    expect((await post(path, "application/x-sentry-envelope", envelope)).status).toBe(200);
    expect((await shared.edge.ingest.all()).slice(mark)).toMatchObject([{ url: "/prefix/api/7/envelope/" }]);
  });
  test("has its files kept", async () => {
    const headers = {
      "content-type": "application/javascript",
      "cache-control": "public, max-age=31536000, immutable",
    };
    await shared.edge.web.answer({ status: 200, headers, body: "1" });
    const path = "/base/_next/static/chunks/a.js";
    expect((await shared.through({ path })).received).toMatchObject([{ url: path }]);
    expect(await shared.through({ path })).toMatchObject({ answer: { status: 200, body: "1" }, received: [] });
  });
  test("has its images kept", async () => {
    const headers = { "content-type": "image/webp", "cache-control": "public, max-age=60" };
    await shared.edge.web.answer({ status: 200, headers, body: "webp" });
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
    await shared.edge.web.answer({ ...page, status, headers, body: "x".repeat(100_000) });
    // Waits until the proxy says so itself.
    await shared.edge.restart("proxy");
  });
});

describe("a redirect to where Next listens", () => {
  test.each(["https://0.0.0.0:3000", "http://0.0.0.0:3000", "https://[::]:3000"])("%s leads here", async (origin) => {
    await shared.edge.web.answer({ ...page, status: 307, headers: { location: `${origin}/base/x?a=1` } });
    const { answer } = await shared.through();
    expect(answer.headers.location).toBe(`https://localhost:${shared.edge.port}/base/x?a=1`);
  });
  test("and to another place stays as it is", async () => {
    const location = "https://other.example/?next=https://0.0.0.0:3000/";
    await shared.edge.web.answer({ ...page, status: 307, headers: { location } });
    expect((await shared.through()).answer.headers.location).toBe(location);
  });
});
