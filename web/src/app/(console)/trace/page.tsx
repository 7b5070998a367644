import { getTraceData } from "@sentry/nextjs";
import type { Metadata } from "next";
import { headers } from "next/headers";
import { Suspense } from "react";
import { requireConsole } from "../../../console/guard";
import { serverSpan } from "../../../console/server-span";
import { type TraceHeaders, traceHeaders, traceId, traceStatus } from "../../../console/trace-headers";
import { callUpstream } from "../../../console/upstream";
import { settings } from "../../../settings";
import { Hop, Hops } from "../../../ui/hops";
import { PageTrace } from "../../../ui/page-trace";
import { PastedTrace } from "../../../ui/pasted-trace";
import { TraceStatusBadge } from "../../../ui/trace-status-badge";

export const metadata: Metadata = { title: "Trace" };

type Props = { searchParams: Promise<{ header?: string | string[] }> };

export default function TracePage({ searchParams }: Props) {
  return (
    <>
      <h1>The trace of this page view</h1>
      <Suspense fallback={<p className="lead">Calling the upstream…</p>}>
        <Trace searchParams={searchParams} />
      </Suspense>
    </>
  );
}

async function Trace({ searchParams }: Props) {
  await requireConsole();
  const { upstreamUrl } = settings();
  const { header } = await searchParams;
  const incoming = traceHeaders(await headers());
  const data = new Map(Object.entries(getTraceData({ propagateTraceparent: true })));
  const render: TraceHeaders = traceHeaders({ get: (name) => data.get(name) ?? null });
  const span = serverSpan();
  const upstream = await callUpstream(upstreamUrl);
  const outgoing = "received" in upstream ? upstream.received : undefined;
  return (
    <>
      <TraceStatusBadge
        server={traceStatus(traceId(render), outgoing && traceId(outgoing), traceId(incoming))}
        rendered={traceId(render)}
        problem={"problem" in upstream ? `${upstreamUrl.host}: ${upstream.problem}` : undefined}
      />
      <PastedTrace pasted={typeof header === "string" ? header : undefined} upstreamUrl={upstreamUrl} />
      <Hops>
        <Hop name="Incoming" hint="The headers of this request." headers={incoming}>
          None: the trace starts here, for example because the address was typed.
        </Hop>
        <Hop
          name="Rendered"
          hint="The server's span for this request, and the headers that it propagates."
          headers={render}
          facts={span}
        >
          None: telemetry is off.
        </Hop>
        <PageTrace rendered={traceId(render)} />
        <Hop
          name="Outgoing"
          hint={`The headers that ${upstreamUrl.host} received from the call made while rendering.`}
          headers={outgoing}
        >
          {"problem" in upstream ? `Unknown: ${upstream.problem}.` : "None."}
        </Hop>
      </Hops>
    </>
  );
}
