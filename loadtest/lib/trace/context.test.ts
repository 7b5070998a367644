import { describe, expect, it } from "vitest";
import { BAGGAGE_MAX_BYTES, parseBaggage } from "./baggage.ts";
import { newContext, SENT_TRACE_PREFIX } from "./context.ts";
import { invalidHeaders } from "./invalid-headers.ts";
import { changedFields, samplingContext, thirdParty } from "./sampling-context.ts";
import { parseSentryTrace } from "./sentry-trace.ts";
import { parseTraceParent } from "./traceparent.ts";

describe("a context that is sent", () => {
  it.each([true, false])("says the same in all three headers (sampled: %s)", (sampled) => {
    const { headers, traceId, spanId } = newContext("key", sampled);
    expect(parseSentryTrace(headers["sentry-trace"])).toEqual({ traceId, spanId, sampled });
    expect(parseTraceParent(headers.traceparent)).toEqual({ version: "00", traceId, spanId, sampled });
    const sampling = samplingContext(parseBaggage(headers.baggage) ?? []);
    expect(sampling).toMatchObject({ trace_id: traceId, public_key: "key", sampled: String(sampled) });
    expect(Number(sampling.sample_rand) < Number(sampling.sample_rate)).toBe(sampled);
  });

  it("has the suite's prefix, and is new every time", () => {
    const ids = Array.from({ length: 1000 }, () => newContext("key").traceId);
    expect(ids.every((id) => id.startsWith(SENT_TRACE_PREFIX) && id.length === 32)).toBe(true);
    expect(new Set(ids).size).toBe(1000);
  });

  it("contains one member of a third party, with characters that need escaping", () => {
    const { headers, vendor } = newContext("key");
    expect(thirdParty(parseBaggage(headers.baggage) ?? [])).toEqual([{ ...vendor, properties: "" }]);
  });
});

describe("a context that came back", () => {
  const sent = { trace_id: "a", sample_rate: "0.5" };

  it("is intact in any order and with fields added by others", () => {
    expect(changedFields(sent, "x=1,sentry-sample_rate=0.5,sentry-trace_id=a,sentry-org_id=1")).toEqual([]);
  });

  it("is otherwise reported field by field", () => {
    expect(changedFields(sent, "sentry-sample_rate=1")).toEqual([
      'sentry-trace_id was "a", is gone',
      'sentry-sample_rate was "0.5", is "1"',
    ]);
    expect(changedFields(sent, undefined)).toEqual(["baggage is missing"]);
    expect(changedFields(sent, "=")).toEqual(['baggage "=" is not valid']);
  });
});

describe("invalid headers", () => {
  const bad = invalidHeaders();

  it("are rejected by this suite's parsers, unless they are only contradictory or oversized", () => {
    for (const { name, headers, anyTrace } of bad) {
      const { "sentry-trace": trace, traceparent, baggage = "" } = headers;
      if (anyTrace || baggage.length > 1000) continue;
      const read = parseSentryTrace(trace) ?? parseTraceParent(traceparent);
      const context = samplingContext(parseBaggage(baggage) ?? []);
      expect(read ?? parseSentryTrace(`${context.trace_id}-${"a".repeat(16)}`), name).toBeUndefined();
    }
  });

  it("reach W3C's limit exactly, and exceed it", () => {
    const lengths = bad.map(({ headers }) => headers.baggage?.length ?? 0);
    expect(lengths).toContain(BAGGAGE_MAX_BYTES);
    expect(
      bad
        .filter(({ oversized }) => oversized)
        .every(({ headers }) => (headers.baggage?.length ?? 0) > BAGGAGE_MAX_BYTES),
    ).toBe(true);
  });

  it("are valid in HTTP: no control or non-ASCII character", () => {
    for (const { headers } of bad) for (const value of Object.values(headers)) expect(value).toMatch(/^[\x20-\x7e]+$/);
  });
});
