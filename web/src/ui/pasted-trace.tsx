import { continueTrace, startSpan } from "@sentry/nextjs";
import { type PastedTrace as Parsed, parseTraceHeader, traceId } from "../console/trace-headers";
import { callUpstream } from "../console/upstream";
import { Facts } from "./facts";
import styles from "./pasted-trace.module.css";

const EXAMPLE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

type Props = { pasted: string | undefined; upstreamUrl: URL };

/** Takes a pasted header, if any; renders the form for it, its parsed values, and whether an outgoing call continues its trace. */
export function PastedTrace({ pasted, upstreamUrl }: Props) {
  const parsed = pasted ? parseTraceHeader(pasted) : undefined;
  return (
    <div className={styles.pasted}>
      <form action="/trace" method="get">
        <label htmlFor="header">Continue an existing trace: paste a sentry-trace or traceparent header</label>
        <input
          id="header"
          name="header"
          defaultValue={pasted}
          placeholder={EXAMPLE}
          maxLength={120}
          autoComplete="off"
          spellCheck={false}
        />
        <button type="submit">Continue it</button>
      </form>
      {parsed && <Followed trace={parsed} upstreamUrl={upstreamUrl} />}
      {pasted && !parsed && (
        <p role="alert">
          This is not a valid header. Example: <code>{EXAMPLE}</code>.
        </p>
      )}
    </div>
  );
}

async function Followed({ trace: { traceId: id, spanId, sampled }, upstreamUrl }: { trace: Parsed; upstreamUrl: URL }) {
  const flag = sampled === undefined ? "" : `-${Number(sampled)}`;
  const result = await continueTrace({ sentryTrace: `${id}-${spanId}${flag}`, baggage: undefined }, () =>
    startSpan({ name: "pasted trace", op: "console.follow" }, () => callUpstream(upstreamUrl)),
  );
  const continuedId = "received" in result ? traceId(result.received) : undefined;
  const status = continuedId === id ? "Continued" : continuedId ? "Broken" : "Unknown";
  const outgoing = "received" in result ? (result.received["sentry-trace"] ?? "no header") : result.problem;
  return (
    <div role="status" aria-label="Pasted trace">
      <Facts
        facts={[
          ["Trace id", id],
          ["Caller’s span", spanId],
          ["Sampled", sampled === undefined ? "not decided" : sampled ? "yes" : "no"],
          ["Outgoing", `${status}: ${outgoing}`],
        ]}
      />
    </div>
  );
}
