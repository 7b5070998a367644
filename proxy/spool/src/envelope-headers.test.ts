import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { requestHeaders, storedHeaders } from "./envelope-headers.ts";

test("the allow-list is the tunnel's", () => {
  const file = new URL("../../snippets/envelope-headers.conf", import.meta.url);
  const tunnel = [...readFileSync(file, "utf8").matchAll(/^proxy_set_header (\S+)/gm)].map(([, name]) => name);
  const all = Object.fromEntries(tunnel.map((name) => [`${name}`.toLowerCase(), "x"]));
  const sent = Object.keys(requestHeaders(storedHeaders(all)));
  assert.ok(tunnel.length > 9);
  assert.deepEqual(sent.sort(), tunnel.filter((name) => name !== "Connection").sort());
});
