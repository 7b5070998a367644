import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { destinations } from "./destination.ts";
import { parseDsn } from "./dsn.ts";

const file = new URL("../../../deploy/test/vectors/dsn.json", import.meta.url);
const { valid, invalid } = JSON.parse(readFileSync(file, "utf8")) as {
  valid: Record<string, string>;
  invalid: string[];
};

test("DSNs become the addresses that the proxy sends, as the URL standard writes them", () => {
  for (const [dsn, envelope] of Object.entries(valid)) {
    assert.equal(destinations(dsn, "")[0]?.url, envelope);
    assert.equal(URL.parse(envelope)?.href, envelope);
  }
});
test("the secret is left out, and the key is kept", () =>
  assert.equal(parseDsn("https://public:secret@sentry.example.com/1")?.key, "public"));
test("invalid DSNs", () => assert.deepEqual(invalid.filter(parseDsn), []));
