import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { headerOf } from "../../../deploy/test/support/recorder/client.ts";
import { envelope, envelopeUrl, newId, send } from "./support/envelopes.ts";
import { metric } from "./support/metrics.ts";
import { type Stack, startStack } from "./support/stack.ts";
import { waitUntil } from "./support/wait.ts";

let stack: Stack;
let url: string;
beforeAll(async () => {
  stack = await startStack({ TUNNEL_ALLOWED_DSNS: "http://second@ingest:9000/8" });
  url = stack.url;
});
afterAll(() => stack?.stop());

test.each([
  ["an address of no configured DSN", { "x-spool-destination": "http://ingest:9000/api/9/envelope/" }, envelope(), 403],
  ["no address", { "x-spool-destination": "" }, envelope(), 403],
  ["a body that is not an envelope", {}, Buffer.from("hello"), 400],
  ["a body that does not match its Content-Encoding", { "content-encoding": "gzip" }, envelope(), 400],
  ["an unsupported Content-Encoding", { "content-encoding": "compress" }, envelope(), 415],
  ["more than 20 MB", {}, Buffer.alloc((20 << 20) + 1), 413],
])("rejected: %s", async (_, headers, body, status) => {
  const answer = await send(url, body, headers);
  expect(answer).toEqual({ status, body: { reason: expect.any(String) } });
});

test("a CSP report goes to the second project's security address unchanged", async () => {
  const address = "http://ingest:9000/api/8/security/?sentry_key=second";
  const body = Buffer.from('{"csp-report":{}}');
  const headers = { "x-spool-destination": address, "content-type": "application/csp-report" };
  expect(await send(url, body, headers)).toEqual({ status: 200, body: {} });
  const request = await stack.recorder.waitFor((one) => (address.endsWith(one.url) ? one : undefined));
  expect(Buffer.from(request.body, "base64")).toEqual(body);
  await waitUntil(async () => (await metric(stack, 'delivered_total{category="security"}')) === 1);
});

test("only the headers of the allow-list arrive, and only sent_at changes of a body, which stays compressed", async () => {
  const id = newId();
  const body = envelope("event", id, 100);
  const named = {
    "content-type": "application/x-sentry-envelope",
    "user-agent": `browser ${id}`,
    "sec-ch-ua": '"Chromium";v="142"',
    "sec-ch-ua-model": '"Pixel 9"',
    "sec-ch-ua-platform": '"Android"',
    "sec-ch-ua-platform-version": '"16.0.0"',
    origin: "https://app.example.com",
    "x-forwarded-for": "192.0.2.1",
    "content-encoding": "gzip",
  };
  const mark = await stack.recorder.count();
  const others = { cookie: "a=1", authorization: "Bearer x", "x-sentry-auth": "x", "x-anything": "1" };
  const began = Date.now();
  expect(await send(url, gzipSync(body), { ...named, ...others })).toEqual({ status: 200, body: {} });

  // Envelopes of earlier tests may still be delivered.
  const sentByThisTest = (one: Parameters<typeof headerOf>[0]) => headerOf(one, "user-agent") === named["user-agent"];
  const request = await stack.recorder.waitFor((one) => (sentByThisTest(one) ? one : undefined), mark);
  const names = request.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  const own = ["connection", "content-length", "host", "x-sentry-forwarded-for"];
  expect(names.sort()).toEqual([...Object.keys(named), ...own].sort());
  expect(headerOf(request, "x-sentry-forwarded-for")).toBe(named["x-forwarded-for"]);
  for (const [name, value] of Object.entries(named)) expect(headerOf(request, name)).toBe(value);
  expect(headerOf(request, "host")).toBe("ingest:9000");
  expect(request.url).toBe(new URL(envelopeUrl).pathname);

  const text = gunzipSync(Buffer.from(request.body, "base64")).toString();
  const [, sentAt = ""] = /"sent_at":"([^"]+)"/.exec(text) ?? [];
  const before = "2026-01-01T00:00:00.000Z";
  const timeInSpool = Date.parse(sentAt) - Date.parse(before);
  expect(timeInSpool).toBeGreaterThanOrEqual(0);
  expect(timeInSpool).toBeLessThanOrEqual(Date.now() - began);
  expect(text.replace(sentAt, before)).toBe(body.toString());
});
