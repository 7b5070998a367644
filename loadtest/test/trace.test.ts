import { describe, expect, it } from "vitest";
import { changedFields, parseBaggage } from "../lib/baggage.ts";
import { parseTrace, parseTraceParent } from "../lib/trace.ts";

const [ID, SPAN] = ["771a43a4192642f0b136d5159a501700", "7c51afd529da4a2a"];

it.each([
  ...[undefined, "", ID, `${ID}-${SPAN}-2`, `${ID}-${SPAN}-`, `${ID}-${SPAN}-1 `, `${ID.toUpperCase()}-${SPAN}-1`],
  ...[`${ID}-${SPAN}-1, ${ID}-${SPAN}-1`, `${"0".repeat(32)}-${SPAN}-1`, `${ID}-${"0".repeat(16)}-1`],
  ...[`ff-${ID}-${SPAN}-01`, `00-${ID}-${SPAN}-01-more`, `00-${ID}-${SPAN}-1`, `00-${"0".repeat(32)}-${SPAN}-01`],
])("a trace header cannot be %j", (value) => {
  expect(parseTrace(value) ?? parseTraceParent(value)).toBeUndefined();
});

describe("baggage", () => {
  it("parses W3C's example: optional spaces, a property, escapes, an = in a value", () => {
    expect(parseBaggage("key1=value1;property1, key2 = value2, key3=a=b; p=1,d=,n=DF%2028")).toEqual({
      ...{ key1: "value1", key2: "value2", key3: "a=b", d: "", n: "DF 28" },
    });
  });

  it.each([
    ...[undefined, "", " ", "a", "a=b,", "=b", "a b=c", 'a="b"'],
    ...["a=b c", "a=b\\c", "a=%", "a=%E0%A4%A", "é=1", "a=é"],
  ])("rejects %j", (value) => {
    expect(parseBaggage(value)).toBeUndefined();
  });

  it("that came back is compared field by field, in any order and with fields added by others", () => {
    const sent = { "sentry-trace_id": "a", "sentry-sample_rate": "0.5" };
    expect(changedFields(sent, "x=1,sentry-sample_rate=0.5,sentry-trace_id=a,sentry-org_id=1")).toEqual([]);
    expect(changedFields(sent, "sentry-sample_rate=0.5")).toEqual(['sentry-trace_id was "a", is gone']);
  });
});
