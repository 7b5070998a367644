import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { destinations } from "./destination.ts";

const file = new URL("../../../deploy/test/vectors/dsn.json", import.meta.url);
const { valid, invalid, invalidHosts } = JSON.parse(readFileSync(file, "utf8")) as {
  valid: Record<string, string>;
  invalid: string[];
  invalidHosts: string[];
};
const urls = (dsn: string, allowed?: string) => destinations(dsn, allowed).map(({ url }) => url);
const fix = "copy it from the project's Client Keys page: https://<key>@<host>/<project>";

test("a DSN is two addresses, as the URL standard writes them: envelopes and CSP reports", () => {
  for (const [dsn, envelope] of Object.entries(valid)) assert.equal(urls(dsn)[0], envelope);
  for (const url of Object.keys(valid).flatMap((dsn) => urls(dsn))) assert.equal(URL.parse(url)?.href, url);
  assert.equal(urls("https://key:secret@a/b/2")[1], "https://a/b/api/2/security/?sentry_key=key");
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
  for (const dsn of [...invalid, ...invalidHosts.map((host) => `http://k@${host}/1`)])
    assert.throws(() => urls(dsn), { message: `SENTRY_DSN is not a DSN: ${fix}` });
  const message = `TUNNEL_ALLOWED_DSNS is not a DSN: ${fix}`;
  assert.throws(() => urls("http://k@a/1", "http://k@b/"), { message });
});
