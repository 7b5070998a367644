import { ROOT_CONTEXT, type Span, type SpanOptions, type Tracer, trace } from "@opentelemetry/api";
import { expect, test, vi } from "vitest";
import { SAMPLE_RAND, sampler } from "../filter/sampling";
import { skippingTracer } from "./skip-unsampled";

const own = { own: true, setAttribute: vi.fn() };
const opened: SpanOptions[] = [];
const startSpan = vi.fn(() => own);
const startActiveSpan = vi.fn(
  (_name: string, options: SpanOptions, _parent: unknown, act: (span: unknown) => unknown) => {
    opened.push(options);
    return act(own);
  },
);
const tracer = (rate = 1) => skippingTracer({ startSpan, startActiveSpan } as unknown as Tracer, sampler(rate));

function below(span: { recording: boolean; isRemote?: boolean }) {
  const parent = { isRecording: () => span.recording, spanContext: () => ({ isRemote: span.isRemote }) };
  return { parent, context: trace.setSpan(ROOT_CONTEXT, parent as unknown as Span) };
}

test("below an unrecorded request, Next's spans are the request's own span", () => {
  const { parent, context } = below({ recording: false });
  expect(tracer().startSpan("render", {}, context)).toBe(parent);
  expect(tracer().startActiveSpan("render", {}, context, (span) => span)).toBe(parent);
});

test.each([
  ["a recorded request", below({ recording: true }).context],
  ["a caller's span", below({ recording: false, isRemote: true }).context],
])("below %s they are the SDK's, at any rate", (_what, context) => {
  expect(tracer(0).startSpan("render", {}, context)).toBe(own);
  expect(tracer(0).startActiveSpan("render", {}, context, (span) => span)).toBe(own);
});

test("a span with `root: true` is the SDK's", () => {
  expect(tracer().startSpan("render", { root: true }, below({ recording: false }).context)).toBe(own);
});

test("of requests that start a trace the SDK gets the sampled share, with the rate and the random number", () => {
  opened.length = 0;
  const spans = Array.from({ length: 1000 }, () =>
    tracer(0.3).startActiveSpan("GET /", {}, ROOT_CONTEXT, (span) => span),
  );
  expect(opened.length).toBeGreaterThan(200);
  expect(opened.length).toBeLessThan(400);
  for (const { attributes = {} } of opened) {
    expect(attributes[SAMPLE_RAND]).toBeLessThan(0.3);
    // The SDK samples again; the decision stays the same.
    expect(sampler(0.3)({ attributes, inheritOrSampleWith: () => 0 })).toBe(1);
  }
  expect(own.setAttribute).toHaveBeenCalledWith("sentry.sample_rate", 0.3);
  expect(spans.filter((span) => (span as unknown) !== own)).toHaveLength(1000 - opened.length);
});

test("an unsampled request propagates a trace of its own with the negative decision", () => {
  const identity = () => tracer(0).startActiveSpan("GET /", {}, ROOT_CONTEXT, (span) => span.spanContext());
  const { traceId, spanId, traceFlags, traceState } = identity();
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(spanId).toMatch(/^[0-9a-f]{16}$/);
  expect(identity().traceId).not.toBe(traceId);
  expect(traceFlags).toBe(0);
  expect(traceState?.get("sentry.sample_rate")).toBe("0");
});
