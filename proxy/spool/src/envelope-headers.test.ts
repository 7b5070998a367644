import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { requestHeaders, storedHeaders } from "./envelope-headers.ts";

test("the headers of the allow-list are stored and sent, no others", () => {
  const allowed = {
    "Content-Type": "application/x-sentry-envelope",
    "Content-Encoding": "gzip",
    "User-Agent": "a browser",
    "Sec-CH-UA": '"Chromium";v="142"',
    "Sec-CH-UA-Model": '"Pixel 9"',
    "Sec-CH-UA-Platform": '"Android"',
    "Sec-CH-UA-Platform-Version": '"16.0.0"',
    Origin: "https://app.example.com",
    "X-Forwarded-For": "192.0.2.1",
  };
  const received = Object.fromEntries(
    Object.entries({ ...allowed, Cookie: "a=1" }).map(([name, value]) => [name.toLowerCase(), value]),
  );
  assert.deepEqual(requestHeaders(storedHeaders(received)), { ...allowed, "X-Sentry-Forwarded-For": "192.0.2.1" });
});
test("a missing header is neither stored nor sent", () => {
  assert.deepEqual(storedHeaders({ origin: "" }), {});
  assert.deepEqual(requestHeaders({ Origin: "https://a" }), { Origin: "https://a" });
});
test("the tunnel's allow-list is the same", () => {
  const file = new URL("../../snippets/envelope-headers.conf", import.meta.url);
  const tunnel = [...readFileSync(file, "utf8").matchAll(/^proxy_set_header (\S+)/gm)].map(([, name]) => name);
  const all = Object.fromEntries(tunnel.map((name) => [`${name}`.toLowerCase(), "x"]));
  const sent = Object.keys(requestHeaders(storedHeaders(all)));
  assert.ok(tunnel.length > 9);
  assert.deepEqual(sent.sort(), tunnel.filter((name) => name !== "Connection").sort());
});
