import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import { parseDsn } from "../../../proxy/spool/src/dsn.ts";
import { exchange, probeEnvelope } from "../http.ts";
import { failed, ok, type Result, reason, unknown } from "../result.ts";
import { certificateProblem } from "./certificate.ts";

/** A clock that differs by more breaks TLS, rate limits and the order of events. */
const MAX_CLOCK_DIFFERENCE_S = 30;

/** Sends a probe envelope straight to the ingest of a DSN: the first step of the proxy's way there that fails is the answer. `caFile` is a private CA's. */
export async function ingest(text: string, caFile = ""): Promise<Result[]> {
  const check = "ingest";
  const dsn = parseDsn(text);
  if (!dsn) return [];
  const port = Number(dsn.port) || (dsn.scheme === "https" ? 443 : 80);
  const where = `${dsn.host}:${port}`;
  const options = {
    ...{
      protocol: `${dsn.scheme}:`,
      host: dsn.host.replace(/^\[|\]$/g, ""),
      port,
      path: `${dsn.prefix}/api/${dsn.project}/envelope/`,
    },
    ...(dsn.scheme === "https" && { ca: caFile ? readFileSync(caFile, "utf8") : rootCertificates.join("\n") }),
  };
  const headers = { "Content-Type": "application/x-sentry-envelope" };
  const answer = await exchange(options, { method: "POST", headers, body: probeEnvelope(text) }).catch((error) =>
    reason(error),
  );
  if (typeof answer === "string") {
    if (/ENOTFOUND|EAI_/.test(answer))
      return [
        failed(
          check,
          `${dsn.host} does not resolve (${answer})`,
          "check the name in SENTRY_DSN and the DNS server of this machine",
        ),
      ];
    if (/CERT|SIGNATURE/.test(answer))
      return [
        failed(
          check,
          `${where}: ${certificateProblem(answer)}`,
          "a private CA goes into INGEST_CA_FILE; else mend the ingest's certificate",
        ),
      ];
    return [
      failed(
        check,
        `${where} does not answer an envelope (${answer})`,
        "check the firewall, the port in SENTRY_DSN, and that it is an ingest of Sentry",
      ),
    ];
  }
  return [accepted(where, dsn.project, answer.status), ...clock(answer.headers.date)];
}

function accepted(where: string, project: string, status: number): Result {
  const found = `${where} answers ${status} to a probe envelope for project ${project}`;
  if (status >= 200 && status < 300) return ok("ingest", `${where} accepted a probe envelope for project ${project}`);
  if (status === 429)
    return unknown("ingest", `${found}: rate limiting`, "look at the project's quota and its key's rate limit");
  if (status >= 500) return failed("ingest", found, "the ingest fails: the spool queues envelopes until it is back");
  return failed("ingest", found, "copy the DSN from the project's Client Keys page, and check that the key is active");
}

/** Compares this machine's clock with an HTTP Date header. */
export function clock(date = "", now = Date.now()): Result[] {
  const difference = Math.round((now - Date.parse(date)) / 1000);
  if (Number.isNaN(difference)) return [];
  if (Math.abs(difference) <= MAX_CLOCK_DIFFERENCE_S) return [ok("clock", "agrees with the ingest's")];
  return [
    failed(
      "clock",
      `${Math.abs(difference)} s ${difference > 0 ? "ahead of" : "behind"} the ingest's`,
      "set this machine's clock (NTP)",
    ),
  ];
}
