import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseDsn } from "./dsn";

test.each([
  ["http://culvert@ingest:8969/1", "ingest:8969"],
  ["https://abc123@o1.ingest.us.sentry.io/45", "o1.ingest.us.sentry.io"],
  ["https://abc@sentry.example.com/some/prefix/45", "sentry.example.com"],
  ["http://abc@[::1]:9000/45", "[::1]:9000"],
])("%s stays as it is", (dsn, host) => {
  expect(parseDsn(dsn)).toMatchObject({ public: dsn, host });
});

test("the secret of a legacy DSN is left out", () => {
  expect(parseDsn("https://public:secret@sentry.example.com/1")?.public).toBe("https://public@sentry.example.com/1");
});

type Vectors = { valid: Record<string, string>[]; invalid: Record<string, string[]> };
const file = new URL("../../../../deploy/test/vectors/dsn.json", import.meta.url);
const { valid, invalid } = JSON.parse(readFileSync(file, "utf8")) as Vectors;

test.each(valid)("every parser accepts $dsn", ({ dsn = "", scheme, key, host, port, prefix, project, envelope }) => {
  const authority = port ? `${host}:${port}` : host;
  expect(parseDsn(dsn)).toEqual({
    public: `${scheme}://${key}@${authority}${prefix}/${project}`,
    host: authority,
    envelopeUrl: envelope,
  });
});

test.each(Object.entries(invalid))("no parser accepts an invalid %s", (_, dsns) => {
  expect(dsns.filter(parseDsn)).toEqual([]);
});

test("envelopes go below the path prefix", () => {
  expect(parseDsn("https://abc@sentry.example.com/some/prefix/45")?.envelopeUrl).toBe(
    "https://sentry.example.com/some/prefix/api/45/envelope/",
  );
});
