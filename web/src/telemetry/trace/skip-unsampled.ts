import {
  type Context,
  context,
  type Span,
  type SpanOptions,
  type Tracer,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { getClient } from "@sentry/nextjs";
import { SAMPLE_RAND, type Sampler } from "../filter/sampling";
import { spanFields } from "./span-fields";

type Delegating = { getDelegate(): TracerProvider };
type Action = (span: Span) => unknown;

/** The name of Next's tracer, and the provider by whose name Next detects that tracing is off: next/dist/server/lib/trace/tracer.js. */
const NEXT_TRACER = "next.js";
const NOOP_PROVIDER = { constructor: { name: "NoopTracerProvider" } } as unknown as TracerProvider;

/**
 * Takes the sampler and skips tracing for unsampled requests. Next starts about ten spans for each page; the SDK builds every
 * one, recorded or not, and copies its scopes for each. So this samples before the SDK is called, and tells Next that tracing is
 * off inside an unsampled request. `make bench ONLY=telemetry` measures the remaining cost. Call it after the SDK has started.
 */
export function skipUnsampledTracing(sample: Sampler): void {
  const provider = trace.getTracerProvider() as unknown as Delegating;
  const real = provider.getDelegate();
  provider.getDelegate = () => (unrecordedParent(context.active()) ? NOOP_PROVIDER : real);
  const getTracer = real.getTracer.bind(real);
  const next = skippingTracer(getTracer(NEXT_TRACER), sample);
  real.getTracer = (name, ...rest) => (name === NEXT_TRACER ? next : getTracer(name, ...rest));
  // Propagate the random number that was drawn here, not the SDK's own, which decided nothing.
  getClient()?.on("createDsc", (samplingContext, root) => {
    const drawn = root && spanFields(root).attributes[SAMPLE_RAND];
    if (drawn !== undefined) samplingContext.sample_rand = String(drawn);
  });
}

/**
 * Takes a tracer and the sampler; returns a tracer that starts no span below an unrecorded local span, and a non-recording span
 * for a request that is not sampled.
 */
export function skippingTracer(tracer: Tracer, sample: Sampler): Tracer {
  return {
    startSpan: (name, options, parent = context.active()) =>
      unrecordedParent(parent, options) ?? tracer.startSpan(name, options, parent),
    startActiveSpan: (name: string, ...args: [Action] | [SpanOptions, Action] | [SpanOptions, Context, Action]) => {
      const act = args.at(-1) as Action;
      const options = args.length > 1 ? (args[0] as SpanOptions) : {};
      const parent = args.length > 2 ? (args[1] as Context) : context.active();
      const unsampledParent = unrecordedParent(parent, options);
      if (unsampledParent) return context.with(parent, act, undefined, unsampledParent);
      if (trace.getSpan(parent)) return tracer.startActiveSpan(name, options, parent, act);
      return startTrace(tracer, name, options, parent, act, sample);
    },
  } as Tracer;
}

/** Starts a trace: samples it by one random number, which is propagated with it, as the SDK would. */
function startTrace(
  tracer: Tracer,
  name: string,
  options: SpanOptions,
  parent: Context,
  act: Action,
  sample: Sampler,
): unknown {
  const rate = sample({ attributes: options.attributes ?? {}, inheritOrSampleWith: (rate) => rate });
  const drawn = Math.random();
  if (drawn >= rate) {
    const span = nonRecordingSpan(rate, drawn);
    return context.with(trace.setSpan(parent, span), act, undefined, span);
  }
  const attributes = { ...options.attributes, [SAMPLE_RAND]: drawn };
  return tracer.startActiveSpan(name, { ...options, attributes }, parent, (span) => {
    span.setAttribute("sentry.sample_rate", rate);
    return act(span);
  });
}

const hex = (digits: number) => crypto.randomUUID().replaceAll("-", "").slice(-digits);

/**
 * A span that records nothing and propagates the negative sampling decision with its rate and random number. The SDK reads those
 * from the trace state, and the decision for child spans only from a span of its own type: one that has `getSpanJSON`.
 */
function nonRecordingSpan(rate: number, drawn: number): Span {
  const state: Record<string, string> = { "sentry.sample_rate": String(rate), "sentry.sample_rand": String(drawn) };
  const traceState = {
    get: (key: string) => state[key],
    set: () => traceState,
    unset: () => traceState,
    serialize: () => "",
  };
  const [traceId, spanId] = [hex(32), hex(16)];
  // `data` is version 10's, `name` and `attributes` are version 11's.
  const fields = { data: {}, name: "", attributes: {} };
  const getSpanJSON = () => ({ trace_id: traceId, span_id: spanId, start_timestamp: 0, ...fields });
  return Object.assign(trace.wrapSpanContext({ traceId, spanId, traceFlags: 0, traceState }), { getSpanJSON });
}

function unrecordedParent(parent: Context, options: SpanOptions = {}): Span | undefined {
  const span = options.root ? undefined : trace.getSpan(parent);
  // A remote caller's span is not recorded here either, but this request still starts its own span below it.
  return span && !span.isRecording() && !span.spanContext().isRemote ? span : undefined;
}
