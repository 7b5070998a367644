import assert from "node:assert/strict";
import { test } from "vitest";
import { destinations } from "./destination.ts";

const urls = (dsn: string, allowed?: string) => destinations(dsn, allowed).map(({ url }) => url);

test("a DSN is two addresses: envelopes and CSP reports", () => {
  assert.deepEqual(urls("https://key:secret@o1.ingest.us.sentry.io/2"), [
    "https://o1.ingest.us.sentry.io/api/2/envelope/",
    "https://o1.ingest.us.sentry.io/api/2/security/?sentry_key=key",
  ]);
});
test("port and path prefix stay as written", () => {
  assert.equal(urls("http://key@[::1]:9000/below/a/prefix/7")[0], "http://[::1]:9000/below/a/prefix/api/7/envelope/");
});
test("TUNNEL_ALLOWED_DSNS is separated by spaces or commas", () => {
  assert.equal(urls("http://k@a/1", "http://k@b/2, http://k@c/3 ,http://k@d/4").length, 8);
});
test("two keys of one project have one address for envelopes, and so one delivery worker", () => {
  assert.deepEqual(urls("http://k@a/1", "http://l@a/1 http://k@a/1"), [
    "http://a/api/1/envelope/",
    "http://a/api/1/security/?sentry_key=k",
    "http://a/api/1/security/?sentry_key=l",
  ]);
});
test("an invalid DSN is rejected without its value in the error", () => {
  for (const [dsn, allowed, setting] of [
    ["sentry.io/2", "", "SENTRY_DSN"],
    ["https://key@host/two", "", "SENTRY_DSN"],
    ["ftp://key@host/2", "", "SENTRY_DSN"],
    ["http://k@a/1", "http://k@b/", "TUNNEL_ALLOWED_DSNS"],
  ] as const) {
    const fix = "copy it from the project's Client Keys page: https://<key>@<host>/<project>";
    assert.throws(() => destinations(dsn, allowed), { message: `${setting} is not a DSN: ${fix}` });
  }
});
