import { describe, expect, it } from "vitest";
import { formatSentryTrace, parseSentryTrace } from "./sentry-trace.ts";

const ID = "771a43a4192642f0b136d5159a501700";
const SPAN = "7c51afd529da4a2a";

describe("sentry-trace", () => {
  it("has a sampling flag, or none for a deferred decision", () => {
    expect(parseSentryTrace(`${ID}-${SPAN}-1`)).toEqual({ traceId: ID, spanId: SPAN, sampled: true });
    expect(parseSentryTrace(`${ID}-${SPAN}-0`)).toEqual({ traceId: ID, spanId: SPAN, sampled: false });
    expect(parseSentryTrace(`${ID}-${SPAN}`)).toEqual({ traceId: ID, spanId: SPAN });
  });

  it.each([
    undefined,
    "",
    "1",
    ID,
    `${ID}-${SPAN}-2`,
    `${ID}-${SPAN}-`,
    `${ID}-${SPAN}-1 `,
    `${ID.toUpperCase()}-${SPAN}-1`,
    `${ID}-${SPAN}-1, ${ID}-${SPAN}-1`,
    `${"0".repeat(32)}-${SPAN}-1`,
    `${ID}-${"0".repeat(16)}-1`,
    `00-${ID}-${SPAN}-01`,
  ])("cannot be %j", (value) => {
    expect(parseSentryTrace(value)).toBeUndefined();
  });

  it("is written as it was parsed", () => {
    for (const text of [`${ID}-${SPAN}-1`, `${ID}-${SPAN}-0`, `${ID}-${SPAN}`]) {
      const trace = parseSentryTrace(text);
      expect(trace && formatSentryTrace(trace)).toBe(text);
    }
  });
});
