import { describe, expect, it } from "vitest";
import { parseDsn, tunnelArguments } from "./dsn.ts";

const query = (text: string) => {
  const dsn = parseDsn(text);
  return dsn && tunnelArguments(dsn);
};

describe("a DSN", () => {
  it("names key, host and project, behind a port and a path prefix as well", () => {
    expect(parseDsn("https://key:secret@sentry.example:9000/some/prefix/42")).toMatchObject({
      publicKey: "key",
      host: "sentry.example",
      project: "42",
    });
  });

  it.each(["", "https://host/1", "https://key@host", "https://key@host/abc", "ftp://key@host/1"])(
    "is not %j",
    (text) => {
      expect(parseDsn(text)).toBeUndefined();
    },
  );

  it("becomes arguments for Sentry's own hosts only", () => {
    expect(query("https://k@o123.ingest.sentry.io/7")).toBe("?o=123&p=7");
    expect(query("https://k@o123.ingest.de.sentry.io/7")).toBe("?o=123&p=7&r=de");
    expect(query("http://culvert@ingest:8969/1")).toBe("");
  });
});
