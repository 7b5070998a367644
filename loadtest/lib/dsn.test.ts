import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseDsn, tunnelArguments } from "./dsn.ts";

type Vectors = { valid: Record<string, string>; invalid: string[] };
const file = new URL("../../deploy/test/vectors/dsn.json", import.meta.url);
const { valid, invalid } = JSON.parse(readFileSync(file, "utf8")) as Vectors;

const query = (text: string) => {
  const dsn = parseDsn(text);
  return dsn && tunnelArguments(dsn);
};

describe("a DSN", () => {
  it("contains key, host and project, also with a port and a path prefix", () => {
    expect(parseDsn("https://key:secret@sentry.example:9000/some/prefix/42")).toMatchObject({
      publicKey: "key",
      host: "sentry.example",
      project: "42",
    });
  });

  it("is accepted or rejected as by proxy, spool and web", () => {
    expect(Object.keys(valid).filter((dsn) => !parseDsn(dsn))).toEqual([]);
    expect(invalid.filter(parseDsn)).toEqual([]);
  });

  it("becomes a query for Sentry's own hosts only", () => {
    expect(query("https://k@o123.ingest.sentry.io/7")).toBe("?o=123&p=7");
    expect(query("https://k@o123.ingest.de.sentry.io/7")).toBe("?o=123&p=7&r=de");
    expect(query("http://culvert@ingest:8969/1")).toBe("");
  });
});
