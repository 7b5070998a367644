import { describe, expect, it } from "vitest";
import { BAGGAGE_MAX_BYTES, formatBaggage, parseBaggage } from "./baggage.ts";

describe("baggage", () => {
  it("parses W3C's example: optional spaces, a property, escapes", () => {
    expect(
      parseBaggage("key1=value1;property1;property2, key2 = value2, key3=value3; propertyKey=propertyValue"),
    ).toEqual([
      { key: "key1", value: "value1", properties: "property1;property2" },
      { key: "key2", value: "value2", properties: "" },
      { key: "key3", value: "value3", properties: "propertyKey=propertyValue" },
    ]);
    expect(parseBaggage("serverNode=DF%2028,isProduction=false")?.[0]?.value).toBe("DF 28");
  });

  it("keeps an = in a value and an empty value", () => {
    expect(parseBaggage("a=b=c,d=")).toEqual([
      { key: "a", value: "b=c", properties: "" },
      { key: "d", value: "", properties: "" },
    ]);
  });

  it.each([
    undefined,
    "",
    " ",
    "a",
    "a=b,",
    "=b",
    "a b=c",
    'a="b"',
    "a=b c",
    "a=b\\c",
    "a=%",
    "a=%E0%A4%A",
    "é=1",
    "a=é",
  ])("rejects %j", (value) => {
    expect(parseBaggage(value)).toBeUndefined();
  });

  it("parses what it wrote, for any value", () => {
    const members = [
      { key: "sentry-transaction", value: 'GET /käse?a=1&b=2,c;d="\\"', properties: "" },
      { key: "vendor", value: "😀 %", properties: "ttl=1" },
    ];
    expect(parseBaggage(formatBaggage(members))).toEqual(members);
  });

  it("does not write more than a receiver must accept", () => {
    expect(() => formatBaggage([{ key: "a b", value: "" }])).toThrow("not a token");
    expect(() => formatBaggage([{ key: "a", value: "x".repeat(BAGGAGE_MAX_BYTES) }])).toThrow("bytes long");
    expect(() => formatBaggage(Array.from({ length: 65 }, (_, at) => ({ key: `k${at}`, value: "" })))).toThrow(
      "65 members",
    );
  });
});
