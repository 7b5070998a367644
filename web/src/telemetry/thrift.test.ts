import { ROOT_CONTEXT, type Span, type Tracer, trace } from "@opentelemetry/api";
import { expect, test, vi } from "vitest";
import { thrifty } from "./thrift";

const own = { own: true };
const startSpan = vi.fn(() => own);
const startActiveSpan = vi.fn((...args: unknown[]) => (args.at(-1) as (span: unknown) => unknown)(own));
const tracer = thrifty({ startSpan, startActiveSpan } as unknown as Tracer);

function below(span: { recording: boolean; isRemote?: boolean }) {
  const parent = { isRecording: () => span.recording, spanContext: () => ({ isRemote: span.isRemote }) };
  return { parent, context: trace.setSpan(ROOT_CONTEXT, parent as unknown as Span) };
}

test("below a request that is not recorded, Next's spans are the request's", () => {
  const { parent, context } = below({ recording: false });
  expect(tracer.startSpan("render", {}, context)).toBe(parent);
  expect(tracer.startActiveSpan("render", {}, context, (span) => span)).toBe(parent);
});

test.each([
  ["a recorded request", below({ recording: true }).context],
  ["a caller's span", below({ recording: false, isRemote: true }).context],
  ["nothing", ROOT_CONTEXT],
])("below %s they are their own", (_what, context) => {
  expect(tracer.startSpan("render", {}, context)).toBe(own);
  expect(tracer.startActiveSpan("render", {}, context, (span) => span)).toBe(own);
});

test("a span that is to begin anew does", () => {
  expect(tracer.startSpan("render", { root: true }, below({ recording: false }).context)).toBe(own);
});
