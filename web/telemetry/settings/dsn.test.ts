import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseDsn } from "./dsn.js";

// proxy/spool/src has the tests of the DSNs that are none.
const file = new URL("../../../deploy/test/vectors/dsn.json", import.meta.url);
const { valid } = JSON.parse(readFileSync(file, "utf8")) as { valid: Record<string, string> };

test.each(Object.entries(valid))("%s has the envelope address %s", (dsn, address) => {
  expect(parseDsn(dsn)?.envelopeUrl).toBe(address);
});

test("the secret of a legacy DSN is left out", () => {
  expect(parseDsn("https://public:secret@sentry.example.com/1")?.public).toBe("https://public@sentry.example.com/1");
});
