import { follow } from "../console/follow-trace";
import { type PastedTrace as Parsed, parseTraceHeader, traceId } from "../console/trace-headers";
import { Facts } from "./facts";
import styles from "./pasted-trace.module.css";

const EXAMPLE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

type Props = { pasted: string | undefined; upstreamUrl: URL };

/** Takes a header that a visitor pasted, if any; renders the form for it, what it says, and whether an outgoing call continues it. */
export function PastedTrace({ pasted, upstreamUrl }: Props) {
  const parsed = pasted ? parseTraceHeader(pasted) : undefined;
  return (
    <div className={styles.pasted}>
      <form action="/trace" method="get">
        <label htmlFor="header">Follow a trace of your own: paste a sentry-trace or traceparent header</label>
        <input
          id="header"
          name="header"
          defaultValue={pasted}
          placeholder={EXAMPLE}
          maxLength={120}
          autoComplete="off"
          spellCheck={false}
        />
        <button type="submit">Follow it</button>
      </form>
      {parsed && <Followed trace={parsed} upstreamUrl={upstreamUrl} />}
      {pasted && !parsed && (
        <p role="alert">
          That is neither header. One looks like <code>{EXAMPLE}</code>.
        </p>
      )}
    </div>
  );
}

async function Followed({ trace, upstreamUrl }: { trace: Parsed; upstreamUrl: URL }) {
  const answer = await follow(trace, upstreamUrl);
  const seen = "saw" in answer ? traceId(answer.saw) : undefined;
  const word = seen === trace.traceId ? "It goes on" : seen ? "It broke" : "Can't tell";
  return (
    <div role="status" aria-label="Pasted trace">
      <Facts
        facts={[
          { name: "Trace id", value: trace.traceId },
          { name: "Caller’s span", value: trace.spanId },
          { name: "Sampled", value: trace.sampled === undefined ? "left to us" : trace.sampled ? "yes" : "no" },
          {
            name: "Went out",
            value:
              "saw" in answer ? `${word}: ${answer.saw["sentry-trace"] ?? "no header"}` : `${word}: ${answer.problem}`,
          },
        ]}
      />
    </div>
  );
}
