import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { destinations } from "./destination.ts";
import { parseDsn } from "./dsn.ts";

const file = new URL("../../../deploy/test/vectors/dsn.json", import.meta.url);
const { valid, invalid } = JSON.parse(readFileSync(file, "utf8")) as {
  valid: { dsn: string; envelope: string }[];
  invalid: Record<string, string[]>;
};

test("the DSNs in the shared test vectors are parsed as by the other parsers, into valid addresses", () => {
  assert.ok(valid.length > 0);
  for (const { dsn, envelope, ...parts } of valid) {
    assert.deepEqual(parseDsn(dsn), parts, dsn);
    assert.equal(destinations(dsn, "")[0]?.url, envelope);
    assert.ok(URL.canParse(envelope), envelope);
  }
});
for (const [part, dsns] of Object.entries(invalid)) {
  test(`invalid ${part}`, () => {
    for (const dsn of dsns) assert.equal(parseDsn(dsn), undefined, dsn);
  });
}
