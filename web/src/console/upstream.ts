import { type TraceHeaders, traceHeaders } from "./trace-headers";

/** The trace headers that the upstream received from the outgoing call, or for people why they are unknown. */
export type UpstreamResult = { received: TraceHeaders } | { problem: string };

/** Takes the upstream's address, calls it, and returns the trace headers it echoes (see /api/echo). Never throws. */
export async function callUpstream(address: URL): Promise<UpstreamResult> {
  try {
    const response = await fetch(address, { cache: "no-store", signal: AbortSignal.timeout(3_000) });
    if (!response.ok) return { problem: `it responds with ${response.status}` };
    const echoed = new Map(Object.entries(parsed(await response.text())));
    if (!echoed.has("sentry-trace")) return { problem: "it does not echo trace headers as /api/echo does" };
    return { received: traceHeaders({ get: (name) => echoed.get(name)?.toString() ?? null }) };
  } catch (error) {
    const { cause = error } = error as Error;
    return { problem: `it does not answer (${cause instanceof Error ? cause.message : error})` };
  }
}

function parsed(text: string): object {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
