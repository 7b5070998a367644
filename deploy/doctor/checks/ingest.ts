import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { type Dsn, parseDsn } from "../../../proxy/spool/src/dsn.ts";
import { probeEnvelope } from "../probe/envelope.ts";
import { connection, handshake } from "../probe/reach.ts";
import { TIMEOUT_MS } from "../probe/target.ts";
import { failed, ok, type Result, reason, unknown } from "../result.ts";
import { certificateProblem } from "./certificate.ts";

/** A clock that differs by more breaks TLS, rate limits and the order of events. */
const MAX_CLOCK_DIFFERENCE_S = 30;

/**
 * Takes a DSN and, where the ingest's certificate is private, its CA's file, and checks each step that the proxy takes to the
 * ingest, up to the first that fails: name, connection, certificate, key. Never throws.
 */
export async function ingest(text: string, caFile = ""): Promise<Result[]> {
  const dsn = parseDsn(text);
  if (!dsn) return [];
  const check = "ingest";
  const host = dsn.host.replace(/^\[|\]$/g, "");
  const port = Number(dsn.port) || (dsn.scheme === "https" ? 443 : 80);
  const where = `${dsn.host}:${port}`;
  const address = await lookup(host).catch((error) => reason(error));
  if (typeof address === "string")
    return [
      failed(
        check,
        `${host} does not resolve (${address})`,
        "check the name in SENTRY_DSN and the DNS server of this machine",
      ),
    ];
  const problem = await connection(host, port);
  if (problem)
    return [
      failed(
        check,
        `${where} (${address.address}) does not accept connections (${problem})`,
        "check the firewall, and the port in SENTRY_DSN",
      ),
    ];
  const ca = caFile ? readFileSync(caFile, "utf8") : undefined;
  if (dsn.scheme === "https") {
    const untrusted = await handshake(host, port, ca);
    if (untrusted)
      return [
        failed(
          check,
          `${where}: ${certificateProblem(untrusted)}`,
          "a private CA goes into INGEST_CA_FILE; else mend the ingest's certificate",
        ),
      ];
  }
  return [
    ok(
      check,
      `${where} resolves to ${address.address}, connects${dsn.scheme === "https" ? ", certificate trusted" : ""}`,
    ),
    ...(await key(dsn, text, ca)),
  ];
}

/** Sends a probe envelope straight to the ingest. */
async function key(dsn: Dsn, text: string, ca: string | undefined): Promise<Result[]> {
  const { request } = await import(dsn.scheme === "https" ? "node:https" : "node:http");
  const answer = await new Promise<{ status: number; date: string | undefined }>((resolve, reject) => {
    const options = {
      host: dsn.host.replace(/^\[|\]$/g, ""),
      port: dsn.port || undefined,
      path: `${dsn.prefix}/api/${dsn.project}/envelope/`,
      method: "POST",
      agent: false,
      ca,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { "Content-Type": "application/x-sentry-envelope" },
    };
    const sent = (request as typeof import("node:http").request)(options, (response) => {
      response.resume().on("end", () => resolve({ status: response.statusCode ?? 0, date: response.headers.date }));
    });
    sent.on("error", reject).end(probeEnvelope(text));
  }).catch((error) => reason(error));
  if (typeof answer === "string")
    return [failed("key", `${dsn.host} did not answer an envelope (${answer})`, "is it an ingest of Sentry?")];
  return [accepted(dsn, answer.status), ...clock(answer.date)];
}

function accepted({ host, project }: Dsn, status: number): Result {
  if (status >= 200 && status < 300) return ok("key", `${host} accepted a probe envelope for project ${project}`);
  if (status === 429)
    return unknown(
      "key",
      `${host} is rate limiting project ${project} (429)`,
      "look at the project's quota and its key's rate limit",
    );
  if (status >= 500)
    return failed("key", `${host} answers ${status}`, "the ingest fails: the spool queues envelopes until it is back");
  return failed(
    "key",
    `${host} rejects envelopes for project ${project} (${status})`,
    "copy the DSN from the project's Client Keys page, and check that the key is active",
  );
}

/** Compares this machine's clock with an HTTP Date header. */
export function clock(date: string | undefined, now = Date.now()): Result[] {
  if (!date) return [];
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
