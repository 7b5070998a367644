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

test.each([
  "",
  "https://host/1",
  "https://@host/1",
  "https://k@/1",
  "https://k@host/",
  "https://k@host/1?x=1",
  "k@host/1",
])("%j is no DSN", (value) => expect(parseDsn(value)).toBeUndefined());

test("envelopes go below the path prefix", () => {
  expect(parseDsn("https://abc@sentry.example.com/some/prefix/45")?.envelopeUrl).toBe(
    "https://sentry.example.com/some/prefix/api/45/envelope/",
  );
});
