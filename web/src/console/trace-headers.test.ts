import { describe, expect, test } from "vitest";
import { parseTraceHeader, traceHeaders, traceId, traceStatus } from "./trace-headers";

const A = "a".repeat(32);
const B = "b".repeat(32);
const carrying = (headers: Record<string, string>) => traceHeaders(new Headers(headers));

describe("the trace id of headers", () => {
  test.each([
    [{ "sentry-trace": `${A}-1234567890abcdef-1` }, A],
    [{ traceparent: `00-${A}-1234567890abcdef-01` }, A],
    [{ baggage: `other=1, sentry-trace_id=${A},sentry-release=v1` }, A],
    [{ "sentry-trace": `${A}-1234567890abcdef`, traceparent: `00-${A}-1234567890abcdef-00` }, A],
    [{ "sentry-trace": `${A}-1234567890abcdef`, traceparent: `00-${B}-1234567890abcdef-00` }, "mixed"],
    [{ "sentry-trace": "nonsense", baggage: "theirs=1" }, undefined],
    [{}, undefined],
  ])("%j", (headers, id) => expect(traceId(carrying(headers))).toBe(id));
});

describe("the trace status", () => {
  test.each([
    ["one trace", A, A, A],
    ["one trace", A, A, undefined],
    ["broken trace", A, B, undefined],
    ["broken trace", A, A, B],
    ["broken trace", A, undefined, A],
    ["broken trace", A, A, "mixed"],
    ["no trace", undefined, undefined, A],
  ])("%s", (expected, render, outgoing, incoming) => expect(traceStatus(render, outgoing, incoming)).toBe(expected));
});

const SPAN = "1234567890abcdef";
describe("a pasted header", () => {
  test.each([
    [`${A}-${SPAN}-1`, { traceId: A, spanId: SPAN, sampled: true }],
    [`${A}-${SPAN}-0`, { traceId: A, spanId: SPAN, sampled: false }],
    [` sentry-trace: ${A}-${SPAN} `, { traceId: A, spanId: SPAN, sampled: undefined }],
    [`00-${A}-${SPAN}-01`, { traceId: A, spanId: SPAN, sampled: true }],
    [`traceparent: 00-${A}-${SPAN}-00`, { traceId: A, spanId: SPAN, sampled: false }],
    [`01-${A}-${SPAN}-01`, undefined],
    [`00-${"0".repeat(32)}-${SPAN}-01`, undefined],
    [`${A}-short`, undefined],
    ["", undefined],
  ])("%s", (text, parsed) => expect(parseTraceHeader(text)).toEqual(parsed));
});
