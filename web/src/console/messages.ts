import { duration } from "../ui/time";

/** The number of events in all replicas of the spool (an envelope counts as one), the age of the oldest in seconds, and how many it has delivered. */
export type Queue = { queued: number; oldestS: number; delivered: number };

/** Takes an ingest's status and returns what is wrong and how to fix it; undefined if it accepts envelopes. */
export function ingestProblem(status: number): string | undefined {
  if (status < 300) return undefined;
  if (status === 401 || status === 403)
    return `The ingest responds with ${status}: it does not know the key of SENTRY_DSN. Copy the DSN again from the project's Client Keys page.`;
  if (status === 404)
    return "The ingest responds with 404: there is no such project, or the path prefix is missing in SENTRY_DSN.";
  if (status === 429)
    return "The ingest responds with 429: this project is over its quota or rate limit. Until that ends, events are lost.";
  if (status >= 500) return `The ingest responds with ${status}: it is failing. See its own log for the reason.`;
  return `The ingest responds with ${status}: it may not be a Sentry ingest. Check the host and port of SENTRY_DSN.`;
}

/** What went wrong below HTTP, by Node's error code, and how to fix it. `%` stands for the host. */
const FAILURES: [codes: RegExp, message: string][] = [
  // The code for every outside name in a container whose network has no route out.
  [
    /EAI_AGAIN/,
    "The name % cannot be resolved here: web has no route out without WEB_EGRESS=on. If that is set, check SETTING.",
  ],
  [/ENOTFOUND/, "The name % cannot be resolved here: check the host in SETTING, and this container's DNS."],
  [/ECONNREFUSED/, "Nothing listens at %: start it, or check the port in SETTING."],
  [
    /TIMEOUT|TimeoutError|EHOSTUNREACH|ENETUNREACH/,
    "No response from %: a firewall blocks the connection, or the host hangs.",
  ],
  [/ALTNAME/, "The certificate of % is for another name: use that name in SETTING."],
  [/EXPIRED/, "The certificate of % has expired: renew it."],
  [/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/, "The certificate of % is not trusted: set INGEST_CA_FILE to its CA."],
  [/ECONNRESET|EPIPE|SOCKET/, "% closes the connection: check scheme and port in SETTING."],
];

/** Takes the error of a call, the host and the setting that names it; returns what is wrong and how to fix it. */
export function connectionProblem(error: unknown, host: string, setting: string): string {
  const code = codeOf(error);
  const message = FAILURES.find(([codes]) => codes.test(code))?.[1] ?? `% cannot be reached (${code}).`;
  return message.replace("%", host).replace("SETTING", setting);
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause) return codeOf(error.cause);
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.name === "TimeoutError" ? error.name : error.message;
}

/** Takes the tunnel's status; returns what is wrong and how to fix it, undefined if it accepts envelopes. */
export function tunnelProblem(status: number, path: string): string | undefined {
  if (status < 300) return undefined;
  if (status === 404) return `There is no tunnel at ${path}: proxy and web have different values of TUNNEL_PATH.`;
  if (status === 405 || status === 415) return `${path} responds with ${status}: it is not the proxy's tunnel.`;
  if (status === 503)
    return "The proxy cannot reach the ingest: check its name, route and certificate (docker compose logs proxy).";
  if (status === 429)
    return `${path} responds with 429: this client IP sends too many envelopes, or the ingest is rate limiting.`;
  return ingestProblem(status);
}

/** What is wrong and how to fix it if the spool accepted an envelope instead of the ingest. */
export const QUEUED_IN_SPOOL_PROBLEM =
  "The ingest accepts no envelopes now: it cannot be reached, or fails. The spool queues them. For the reason (name, route, certificate, status), see docker compose logs proxy.";

export const SPOOL_PROBLEM =
  "The spool does not respond: it queues nothing while the ingest accepts no envelopes. For its state, see docker compose ps --all.";

/** Takes what the spool queues and returns that as a problem, with a way to fix it. */
export function queuedProblem({ queued, oldestS }: Queue): string {
  const count = queued === 1 ? "1 event" : `${queued} events`;
  return `Queued in the spool: ${count}, the oldest for ${duration(oldestS)}. The spool sends what it queues once the ingest accepts it. If it does not, see docker compose logs spool.`;
}
