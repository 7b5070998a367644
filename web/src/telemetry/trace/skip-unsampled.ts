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
import { CHOSEN, type Sampler } from "../filter/sampling";
import { spanFields } from "./span-fields";

type Delegating = { getDelegate(): TracerProvider };
type Action = (span: Span) => unknown;

/** The name under which Next asks for its tracer, and the one by which it knows that nobody traces: next/dist/server/lib/trace/tracer.js. */
const NEXT = "next.js";
const NOBODY = { constructor: { name: "NoopTracerProvider" } } as unknown as TracerProvider;

/**
 * Takes how to sample, and makes requests that are not sampled cheap. Next opens about ten spans for each page, and the SDK
 * builds every one, recorded or not, and copies its scopes for each. So the choice is made before the SDK is asked, and inside a
 * request that is not recorded Next is told that nobody traces. `make bench ONLY=telemetry` shows what is left of the cost. To be called once the
 * SDK has started.
 */
export function spareUnsampled(sample: Sampler): void {
  const provider = trace.getTracerProvider() as unknown as Delegating;
  const real = provider.getDelegate();
  provider.getDelegate = () => (unrecorded(context.active()) ? NOBODY : real);
  const getTracer = real.getTracer.bind(real);
  const next = thrifty(getTracer(NEXT), sample);
  real.getTracer = (name, ...rest) => (name === NEXT ? next : getTracer(name, ...rest));
  // Whoever continues the trace is told the number that was drawn here, not the one that the SDK drew and had no use for.
  getClient()?.on("createDsc", (handedOn, root) => {
    const drawn = root && spanFields(root).attributes[CHOSEN];
    if (drawn !== undefined) handedOn.sample_rand = String(drawn);
  });
}

/**
 * Takes a tracer and how to sample; returns a tracer that opens no span below a local span that is not recorded, and an
 * empty one for a request that is not chosen.
 */
export function thrifty(tracer: Tracer, sample: Sampler): Tracer {
  return {
    startSpan: (name, options, parent = context.active()) =>
      unrecorded(parent, options) ?? tracer.startSpan(name, options, parent),
    startActiveSpan: (name: string, ...args: [Action] | [SpanOptions, Action] | [SpanOptions, Context, Action]) => {
      const act = args.at(-1) as Action;
      const options = args.length > 1 ? (args[0] as SpanOptions) : {};
      const parent = args.length > 2 ? (args[1] as Context) : context.active();
      const spared = unrecorded(parent, options);
      if (spared) return context.with(parent, act, undefined, spared);
      if (trace.getSpan(parent)) return tracer.startActiveSpan(name, options, parent, act);
      return begin(tracer, name, options, parent, act, sample);
    },
  } as Tracer;
}

/** A trace begins here: chosen or not by one number, which is handed on with it, as the SDK would. */
function begin(
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
    const span = unsampled(rate, drawn);
    return context.with(trace.setSpan(parent, span), act, undefined, span);
  }
  const attributes = { ...options.attributes, [CHOSEN]: drawn };
  return tracer.startActiveSpan(name, { ...options, attributes }, parent, (span) => {
    span.setAttribute("sentry.sample_rate", rate);
    return act(span);
  });
}

const hex = (digits: number) => crypto.randomUUID().replaceAll("-", "").slice(-digits);

/**
 * A span that records nothing, and hands on that it was decided against, by which rate and number. The SDK reads the latter from the
 * trace state; the former, for what begins below it, only from a span of its own kind: one that has `getSpanJSON`.
 */
function unsampled(rate: number, drawn: number): Span {
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

function unrecorded(parent: Context, options: SpanOptions = {}): Span | undefined {
  const span = options.root ? undefined : trace.getSpan(parent);
  // A caller's span is not recorded here either, but what begins below it is this request's own.
  return span && !span.isRecording() && !span.spanContext().isRemote ? span : undefined;
}
