import { type TraceHeaders, traceHeaders } from "./trace-headers";

/** The trace headers that the upstream received from the outgoing call, or for people why they are unknown. */
export type UpstreamResult = { received: TraceHeaders } | { problem: string };

/** Takes the upstream's address, calls it, and returns the trace headers it echoes (see /api/echo). Never throws. */
export async function callUpstream(address: URL): Promise<UpstreamResult> {
  try {
    const response = await fetch(address, { cache: "no-store", signal: AbortSignal.timeout(3_000) });
    if (!response.ok) return { problem: `it responds with ${response.status}` };
    const body: unknown = await response.json().catch(() => undefined);
    if (typeof body !== "object" || body === null || !("sentry-trace" in body))
      return { problem: "it does not echo trace headers as /api/echo does" };
    const echoed = new Map<string, unknown>(Object.entries(body));
    return { received: traceHeaders({ get: (name) => echoed.get(name)?.toString() ?? null }) };
  } catch (error) {
    const { cause = error } = error as Error;
    return { problem: `it cannot be reached (${cause instanceof Error ? cause.message : error})` };
  }
}
