import { expect, test } from "vitest";
import { sendServerTiming } from "../serve/server-timing.js";
import { listen } from "../test/listen.js";
import { readBrowserSettings, readRequestId, serverTiming } from "./browser-settings.js";
import { settingsMetrics } from "./send-browser-settings.js";
import { parseSettings } from "./settings.js";

const settings = parseSettings({
  SENTRY_DSN: "https://public:topsecret@sentry.example.com/1",
  SENTRY_RELEASE: "v1@2+3",
  REGION: "eu",
  SERVER_TUNNEL: "http://internal:8083",
});

/** A page whose document came with these metrics, as a browser parses them. */
function page(...headers: (string | undefined)[]) {
  const serverTiming = headers.map((header) => {
    const [, name, description] = /^([\w-]+);desc="([^"\\]*)"$/.exec(header ?? "") ?? [];
    return { name, description };
  });
  return { getEntriesByType: () => [{ serverTiming }] } as unknown as Performance;
}

test("the browser reads back what the server wrote, beside metrics of the app's own", () => {
  expect(readBrowserSettings(page('db;desc="1"', serverTiming(settings, "r1")))).toEqual({
    dsn: "https://public@sentry.example.com/1",
    environment: "production",
    release: "v1@2+3",
    region: "eu",
    tracesSampleRate: 1,
    tunnelPath: "/monitoring",
  });
  expect(readRequestId(page(serverTiming(settings, "r1")))).toBe("r1");
  // Neither the DSN's secret nor an internal address.
  expect(serverTiming(settings, undefined)).not.toMatch(/topsecret|internal/);
});

test("without a DSN the page carries the request id only, and the browser starts nothing", () => {
  const behindProxy = parseSettings({ SERVER_TUNNEL: "http://proxy:8083" });
  expect(readBrowserSettings(page(serverTiming(behindProxy, "r1")))).toMatchObject({
    dsn: undefined,
    tunnelPath: "/monitoring",
  });
  const header = serverTiming(parseSettings({}), "r1");
  expect(header).toBe('culvert;desc="request=r1"');
  expect([readBrowserSettings(page(header)), readRequestId(page(header))]).toEqual([undefined, "r1"]);
  expect(serverTiming(parseSettings({}), undefined)).toBeUndefined();
});

test("each document carries them once, and nothing else does", async () => {
  for (let n = 0; n < 2; n++) sendServerTiming(settingsMetrics(settings));
  const { url } = await listen(({ headers }, response) => {
    if (headers["x-type"]) response.setHeader("content-type", headers["x-type"]);
    response.appendHeader("Server-Timing", "db;dur=1").end();
  });
  const get = async (accept: string, type = "") => {
    const headers = { accept, "x-request-id": "balancer-1", "x-type": type };
    const response = await fetch(url, { headers });
    return response.headers.get("server-timing");
  };
  expect(await get("text/html,*/*")).toBe(`db;dur=1, ${serverTiming(settings, "balancer-1")}`);
  for (const type of ["", "application/json"]) expect(await get("*/*", type)).toBe("db;dur=1");
  // A page that a service worker fetches.
  expect(await get("*/*", "text/html; charset=utf-8")).toBe(`db;dur=1, ${serverTiming(settings, "balancer-1")}`);
});
