import { suppressTracing } from "@sentry/nextjs";
import type { Dsn } from "../telemetry/dsn";
import { settings } from "../telemetry/settings";
import { type Check, look, UNKNOWN } from "./check";
import { probeEnvelope } from "./probe-envelope";
import { remembered } from "./remembered";
import { connectionProblem, ingestProblem, upstreamProblem } from "./words";

const TIMEOUT_MS = 3_000;

/** Whether the ingest takes this server's reports. */
export const webToIngest = remembered(() => checkIngest(settings().dsn));

/** Whether the API that /trace calls answers. */
export const webToUpstream = remembered(() => checkUpstream(settings().upstreamUrl));

/** Takes a DSN and asks its ingest. Never throws. */
export async function checkIngest(dsn: Dsn | undefined): Promise<Check> {
  if (!dsn) return UNKNOWN;
  const ask = () => call(dsn.envelopeUrl, { method: "POST", body: probeEnvelope(dsn.public) });
  return look(ask, ingestProblem, (error) => connectionProblem(error, dsn.host, "SENTRY_DSN"));
}

/** Takes the upstream's address and asks it. Never throws. */
export async function checkUpstream(address: URL): Promise<Check> {
  return look(
    () => call(address),
    upstreamProblem,
    (error) => connectionProblem(error, address.host, "UPSTREAM_URL"),
  );
}

/** A look at a hop is no visitor's request: it belongs to nobody's trace. */
function call(address: string | URL, init: RequestInit = {}): Promise<Response> {
  const options = { ...init, cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS) } as const;
  return suppressTracing(async () => {
    const response = await fetch(address, options);
    await response.body?.cancel();
    return response;
  });
}
