import { followTrace } from "../console/follow-trace";
import { type PastedTrace as Parsed, parseTraceHeader, traceId } from "../console/trace-headers";
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

async function Followed({ trace, upstreamUrl }: { trace: Parsed; upstreamUrl: URL }) {
  const result = await followTrace(trace, upstreamUrl);
  const continuedId = "received" in result ? traceId(result.received) : undefined;
  const status = continuedId === trace.traceId ? "Continued" : continuedId ? "Broken" : "Unknown";
  return (
    <div role="status" aria-label="Pasted trace">
      <Facts
        facts={[
          { name: "Trace id", value: trace.traceId },
          { name: "Caller’s span", value: trace.spanId },
          { name: "Sampled", value: trace.sampled === undefined ? "not decided" : trace.sampled ? "yes" : "no" },
          {
            name: "Outgoing",
            value:
              "received" in result
                ? `${status}: ${result.received["sentry-trace"] ?? "no header"}`
                : `${status}: ${result.problem}`,
          },
        ]}
      />
    </div>
  );
}
