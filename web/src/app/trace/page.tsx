import { getTraceData } from "@sentry/nextjs";
import type { Metadata } from "next";
import { headers } from "next/headers";
import { settings } from "../../telemetry/settings";
import { type TraceHeaders, traceHeaders, traceId, verdict } from "../../telemetry/trace";
import { askUpstream } from "../../telemetry/upstream";
import { Hop, Hops } from "../../ui/hops";
import { VerdictBadge } from "../../ui/verdict-badge";

export const metadata: Metadata = { title: "Trace" };

export default async function TracePage() {
  const { upstreamUrl } = settings();
  const incoming = traceHeaders(await headers());
  const own = new Map(Object.entries(getTraceData({ propagateTraceparent: true })));
  const render: TraceHeaders = traceHeaders({ get: (name) => own.get(name) ?? null });
  const upstream = await askUpstream(upstreamUrl);
  const outgoing = "saw" in upstream ? upstream.saw : undefined;
  return (
    <>
      <h1>The trace of this page view</h1>
      <VerdictBadge
        verdict={verdict(traceId(render), outgoing && traceId(outgoing), traceId(incoming))}
        problem={"problem" in upstream ? `${upstreamUrl.host}: ${upstream.problem}` : undefined}
      />
      <Hops>
        <Hop name="Came in" hint="The headers of this request." headers={incoming}>
          None: the trace starts here, as it does when an address is typed.
        </Hop>
        <Hop name="Rendered" hint="What the server hands to the page in its meta tags." headers={render}>
          None: telemetry is off.
        </Hop>
        <Hop name="Went out" hint={`What ${upstreamUrl.host} saw of the call made while rendering.`} headers={outgoing}>
          {"problem" in upstream ? `Unknown: ${upstream.problem}.` : "None."}
        </Hop>
      </Hops>
    </>
  );
}
