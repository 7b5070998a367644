import { suppressTracing } from "@sentry/nextjs";
import { type Settings, settings } from "../telemetry/settings/settings";
import { remembered } from "./cached-check";
import { type Check, look, UNKNOWN } from "./check";
import { connectionProblem, ingestProblem, KEPT_PROBLEM, serverTunnelProblem, upstreamProblem } from "./messages";
import { probeEnvelope } from "./probe-envelope";
import { lookAtSpool } from "./spool";

const TIMEOUT_MS = 3_000;

/** For how long to ask: until each check has an answer, if only that there was none. */
export const PATIENT_MS = TIMEOUT_MS + 1_000;

/** Whether the ingest takes this server's reports, by the way they go: through the proxy where there is one. */
export const webToIngest = remembered(() => checkIngest(settings()));

/** Whether reports wait for the ingest. */
export const spool = remembered(() => checkSpool(settings()));

/** Whether the API that /trace calls answers. */
export const webToUpstream = remembered(() => checkUpstream(settings().upstreamUrl));

/** Takes where reports go, and asks there. Never throws. */
export async function checkIngest({ dsn, serverTunnel }: Pick<Settings, "dsn" | "serverTunnel">): Promise<Check> {
  if (!dsn) return UNKNOWN;
  const [address, setting] = serverTunnel ? [serverTunnel, "SERVER_TUNNEL"] : [new URL(dsn.envelopeUrl), "SENTRY_DSN"];
  const answer = { kept: false };
  const ask = async () => {
    const response = await call(address, { method: "POST", body: probeEnvelope(dsn.public) });
    answer.kept = response.headers.has("x-envelope-outcome");
    return response;
  };
  const words = (status: number) => {
    if (answer.kept) return KEPT_PROBLEM;
    return serverTunnel ? serverTunnelProblem(status) : ingestProblem(status);
  };
  return look(ask, words, (error) => connectionProblem(error, address.host, setting));
}

/** Takes where the spool is, and asks it what waits there. Never throws. */
export async function checkSpool({ spoolUpstream }: Pick<Settings, "spoolUpstream">): Promise<Check> {
  if (!spoolUpstream) return UNKNOWN;
  return lookAtSpool(() => read(new URL("/metrics", spoolUpstream)));
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
function fetchQuietly(address: string | URL, init: RequestInit = {}): Promise<Response> {
  const options = { ...init, cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS) } as const;
  return suppressTracing(() => fetch(address, options));
}

async function call(address: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetchQuietly(address, init);
  await response.body?.cancel();
  return response;
}

async function read(address: URL): Promise<string> {
  return (await fetchQuietly(address)).text();
}
