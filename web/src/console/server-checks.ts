import { lookup } from "node:dns/promises";
import { suppressTracing } from "@sentry/nextjs";
import { type Settings, settings } from "../settings";
import { cachedCheck } from "./cached-check";
import { type Check, runCheck, UNKNOWN } from "./check";
import { connectionProblem, ingestProblem, QUEUED_IN_SPOOL_PROBLEM, tunnelProblem } from "./messages";
import { probeEnvelope } from "./probe-envelope";
import { checkSpoolMetrics, type SpoolCheck } from "./spool";

const TIMEOUT_MS = 3_000;

/** Whether the ingest accepts this server's envelopes, on their usual path: through the proxy if there is one. */
const webToIngest = cachedCheck(() => checkIngest(settings()));

/** What is queued for the ingest. */
const webToSpool = cachedCheck(() => checkSpool(settings()));

/** Whether the API that /trace calls responds. */
const webToUpstream = cachedCheck(() => {
  const { upstreamUrl } = settings();
  const problemOfFailure = (error: unknown) => connectionProblem(error, upstreamUrl.host, "UPSTREAM_URL");
  const problemOf = (status: number) => (status < 400 ? undefined : `The API at UPSTREAM_URL responds with ${status}.`);
  return runCheck(() => call(upstreamUrl), problemOf, problemOfFailure);
});

export type ServerChecks = { ingest: Check; upstream: Check; spool: SpoolCheck };

/** Returns the server's checks. Never throws. */
export async function serverChecks(): Promise<ServerChecks> {
  const checks = [webToIngest(), webToUpstream(), webToSpool()] as const;
  const [ingest, upstream, spool] = await Promise.all(checks);
  return { ingest, upstream, spool };
}

/** Takes the DSN and the proxy's address and sends a probe envelope. Never throws. */
async function checkIngest({ dsn, serverTunnel }: Pick<Settings, "dsn" | "serverTunnel">): Promise<Check> {
  if (!dsn) return UNKNOWN;
  const [address, setting] = serverTunnel ? [serverTunnel, "SERVER_TUNNEL"] : [new URL(dsn.envelopeUrl), "SENTRY_DSN"];
  const result = { queued: false };
  const probe = async () => {
    const response = await call(address, { method: "POST", body: probeEnvelope(dsn.public) });
    result.queued = response.headers.has("x-envelope-outcome");
    return response;
  };
  const problemOf = (status: number) => {
    if (result.queued) return QUEUED_IN_SPOOL_PROBLEM;
    return serverTunnel && status === 503 ? tunnelProblem(status, "") : ingestProblem(status);
  };
  return runCheck(probe, problemOf, (error) => connectionProblem(error, address.host, setting));
}

/** Takes the spool's address, which may be that of several replicas, and reads the state of the queue from their metrics. Never throws. */
async function checkSpool({ spoolUpstream }: Pick<Settings, "spoolUpstream">): Promise<SpoolCheck> {
  if (!spoolUpstream) return UNKNOWN;
  return checkSpoolMetrics(async () => {
    const found = await lookup(spoolUpstream.hostname, { all: true });
    // One address each: a replica may have IPv4 and IPv6.
    const addresses = found.filter(({ family }) => family === found[0]?.family);
    return Promise.all(
      addresses.map(async ({ address, family }) => {
        const host = family === 6 ? `[${address}]` : address;
        return (await fetchUntraced(`http://${host}:${spoolUpstream.port}/metrics`)).text();
      }),
    );
  });
}

/** A check is not part of a user's request, so it must not join the trace of one. */
function fetchUntraced(address: string | URL, init: RequestInit = {}): Promise<Response> {
  const options = { ...init, cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS) } as const;
  return suppressTracing(() => fetch(address, options));
}

async function call(address: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetchUntraced(address, init);
  await response.body?.cancel();
  return response;
}
