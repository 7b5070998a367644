import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseDsn, tunnelArguments } from "./dsn.ts";

type Vectors = { valid: Record<string, string>; invalid: string[] };
const file = new URL("../../deploy/test/vectors/dsn.json", import.meta.url);
const { valid, invalid } = JSON.parse(readFileSync(file, "utf8")) as Vectors;

describe("a DSN", () => {
  it("is accepted or rejected as by proxy, spool and web", () => {
    expect(Object.keys(valid).filter((dsn) => !parseDsn(dsn))).toEqual([]);
    expect(invalid.filter(parseDsn)).toEqual([]);
  });

  it.each([
    ["https://k@o123.ingest.sentry.io/7", "?o=123&p=7"],
    ["https://k@o123.ingest.de.sentry.io/7", "?o=123&p=7&r=de"],
    ["https://k:secret@sentry.example:9000/some/prefix/7", ""],
  ])("%s becomes the query %j: only Sentry's own hosts have one", (text, query) => {
    const dsn = parseDsn(text);
    expect(dsn).toMatchObject({ publicKey: "k", project: "7" });
    expect(dsn && tunnelArguments(dsn)).toBe(query);
  });
});
