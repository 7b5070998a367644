import { describe, expect, it } from "vitest";
import { formatTraceParent, parseTraceParent } from "./traceparent.ts";

const ID = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

describe("traceparent", () => {
  it("parses W3C's example", () => {
    expect(parseTraceParent(`00-${ID}-${SPAN}-01`)).toEqual({
      version: "00",
      traceId: ID,
      spanId: SPAN,
      sampled: true,
    });
  });

  it("uses the lowest flag only", () => {
    expect(parseTraceParent(`00-${ID}-${SPAN}-02`)?.sampled).toBe(false);
    expect(parseTraceParent(`00-${ID}-${SPAN}-03`)?.sampled).toBe(true);
  });

  it("accepts a later version with more fields, as the specification requires", () => {
    expect(parseTraceParent(`cc-${ID}-${SPAN}-01-a-future-field`)?.traceId).toBe(ID);
  });

  it.each([
    undefined,
    "",
    `ff-${ID}-${SPAN}-01`,
    `00-${ID}-${SPAN}-01-more`,
    `00-${ID}-${SPAN}-1`,
    `00-${ID.toUpperCase()}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${ID}-${"0".repeat(16)}-01`,
    `${ID}-${SPAN}-1`,
    `cc-${ID}-${SPAN}-01.more`,
  ])("cannot be %j", (value) => {
    expect(parseTraceParent(value)).toBeUndefined();
  });

  it("writes a deferred decision as not sampled", () => {
    expect(formatTraceParent({ traceId: ID, spanId: SPAN })).toBe(`00-${ID}-${SPAN}-00`);
    expect(formatTraceParent({ traceId: ID, spanId: SPAN, sampled: true })).toBe(`00-${ID}-${SPAN}-01`);
  });
});
