import {
  type Context,
  context,
  type Span,
  type SpanOptions,
  type Tracer,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";

type Delegating = { getDelegate(): TracerProvider };
type Action = (span: Span) => unknown;

/** The name under which Next asks for its tracer. */
const NEXT = "next.js";

/**
 * Makes Next's own spans free where a request is not sampled. Next opens about ten for each page, and the SDK builds every one,
 * recorded or not; inside a request that is not recorded they tell nobody anything, so they all share the request's.
 * Measured by `npm run measure` in e2e/. To be called once the SDK has started.
 */
export function spareUnsampled(): void {
  const provider = (trace.getTracerProvider() as unknown as Delegating).getDelegate();
  const getTracer = provider.getTracer.bind(provider);
  provider.getTracer = (name, ...rest) =>
    name === NEXT ? thrifty(getTracer(name, ...rest)) : getTracer(name, ...rest);
}

/** Takes a tracer and returns one that opens no span below a local span that is not recorded. */
export function thrifty(tracer: Tracer): Tracer {
  return {
    startSpan: (name, options, parent = context.active()) =>
      unrecorded(parent, options) ?? tracer.startSpan(name, options, parent),
    startActiveSpan: (name: string, ...args: [Action] | [SpanOptions, Action] | [SpanOptions, Context, Action]) => {
      const act = args.at(-1) as Action;
      const options = args.length > 1 ? (args[0] as SpanOptions) : {};
      const parent = args.length > 2 ? (args[1] as Context) : context.active();
      const span = unrecorded(parent, options);
      if (!span) return tracer.startActiveSpan(name, options, parent, act);
      return parent === context.active() ? act(span) : context.with(parent, act, undefined, span);
    },
  } as Tracer;
}

function unrecorded(parent: Context, options: SpanOptions = {}): Span | undefined {
  const span = options.root ? undefined : trace.getSpan(parent);
  // A caller's span is not recorded here either, but what begins below it is this request's own.
  return span && !span.isRecording() && !span.spanContext().isRemote ? span : undefined;
}
