import { duration } from "../ui/time";

/** Takes the status that an ingest answers and returns what is wrong and what to do; undefined when it takes reports. */
export function ingestProblem(status: number): string | undefined {
  if (status < 300) return undefined;
  if (status === 401 || status === 403)
    return `The ingest answers ${status}: the key of SENTRY_DSN is unknown to it. Copy the DSN anew from the project's Client Keys page.`;
  if (status === 404)
    return "The ingest answers 404: there is no such project, or its path prefix is missing in SENTRY_DSN.";
  if (status === 429)
    return "The ingest answers 429: this project is over its quota or rate, and reports are lost until it is not.";
  if (status >= 500) return `The ingest answers ${status}: it is failing, and its own log says why.`;
  return `The ingest answers ${status}: what listens there may be no Sentry ingest. Check the host and port of SENTRY_DSN.`;
}

/** What went wrong below HTTP, by Node's error code, and what to do. `%` stands for the host. */
const FAILURES: [codes: RegExp, words: string][] = [
  // What a container in a network without a way out is told of every name outside.
  [/EAI_AGAIN/, "The name % can't be resolved here: web has no way out unless WEB_EGRESS=on; else check SETTING."],
  [/ENOTFOUND/, "The name % can't be resolved here: check the host in SETTING, and this container's DNS."],
  [/ECONNREFUSED/, "Nothing listens at %: start it, or check the port in SETTING."],
  [/TIMEOUT|TimeoutError|EHOSTUNREACH|ENETUNREACH/, "No answer from %: a firewall on the way, or it hangs."],
  [/ALTNAME/, "The certificate of % is for another name: use the name that is in it in SETTING."],
  [/EXPIRED/, "The certificate of % has expired: renew it."],
  [/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/, "The certificate of % is not trusted: give its CA as INGEST_CA_FILE."],
  [/ECONNRESET|EPIPE|SOCKET/, "% cuts the connection: check scheme and port in SETTING."],
];

/** Takes the failure of a call, the host and the setting that names it; returns what is wrong and what to do. */
export function connectionProblem(error: unknown, host: string, setting: string): string {
  const code = codeOf(error);
  const words = FAILURES.find(([codes]) => codes.test(code))?.[1] ?? `% can't be reached (${code}).`;
  return words.replace("%", host).replace("SETTING", setting);
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause) return codeOf(error.cause);
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.name === "TimeoutError" ? error.name : error.message;
}

/** Takes the status that the tunnel answers; returns what is wrong and what to do, undefined when reports get through. */
export function tunnelProblem(status: number, path: string): string | undefined {
  if (status < 300) return undefined;
  if (status === 404) return `Nothing is at ${path}: proxy and web have been given different TUNNEL_PATHs.`;
  if (status === 405 || status === 415)
    return `${path} answers ${status}: something other than the proxy's tunnel is there.`;
  if (status === 503)
    return "The proxy can't reach the ingest: check its name, route and certificate (docker compose logs proxy).";
  if (status === 429) return `${path} answers 429: too many reports from this address, or the ingest is limiting.`;
  return ingestProblem(status);
}

/** What is wrong and what to do when it was not the ingest that took a report, but the spool. */
export const KEPT_PROBLEM =
  "The ingest takes no reports now: it can't be reached, or fails. The spool keeps them; docker compose logs proxy has the reason (name, route, certificate, status).";

/** Takes what waits in the spool and says so, with what to do. */
export function waitingWords({ reports, oldestS }: { reports: number; oldestS: number }): string {
  const what = reports === 1 ? "1 report waits" : `${reports} reports wait`;
  return `${what} in the spool, the oldest for ${duration(oldestS)}. They leave by themselves once the ingest takes them; if they stay, docker compose logs spool says why.`;
}

/** Takes the status that the proxy answers web's own reports; returns what is wrong and what to do. */
export function serverTunnelProblem(status: number): string | undefined {
  return status === 503 ? tunnelProblem(status, "") : ingestProblem(status);
}

/** Takes the status that the upstream answers; undefined when it answers. */
export function upstreamProblem(status: number): string | undefined {
  return status < 400 ? undefined : `The API at UPSTREAM_URL answers ${status}.`;
}
