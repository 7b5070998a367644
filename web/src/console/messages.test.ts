import { expect, test } from "vitest";
import { connectionProblem, ingestProblem, tunnelProblem, upstreamProblem } from "./messages";

test.each([
  [200, undefined],
  [403, /403: it does not know the key of SENTRY_DSN/],
  [404, /no such project/],
  [429, /quota/],
  [502, /failing/],
  [400, /may not be a Sentry ingest/],
])("an ingest that responds with %i", (status, message) => {
  if (message) expect(ingestProblem(status)).toMatch(message);
  else expect(ingestProblem(status)).toBeUndefined();
});

const failure = (code: string) => new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code }) });
test.each([
  [
    failure("ENOTFOUND"),
    "The name ingest:1 cannot be resolved here: check the host in SENTRY_DSN, and this container's DNS.",
  ],
  [
    failure("EAI_AGAIN"),
    "The name ingest:1 cannot be resolved here: web has no route out without WEB_EGRESS=on. If that is set, check SENTRY_DSN.",
  ],
  [failure("ECONNREFUSED"), "Nothing listens at ingest:1: start it, or check the port in SENTRY_DSN."],
  [
    failure("UND_ERR_CONNECT_TIMEOUT"),
    "No response from ingest:1: a firewall blocks the connection, or the host hangs.",
  ],
  [
    new DOMException("x", "TimeoutError"),
    "No response from ingest:1: a firewall blocks the connection, or the host hangs.",
  ],
  [failure("SELF_SIGNED_CERT_IN_CHAIN"), "The certificate of ingest:1 is not trusted: set INGEST_CA_FILE to its CA."],
  [
    failure("ERR_TLS_CERT_ALTNAME_INVALID"),
    "The certificate of ingest:1 is for another name: use that name in SENTRY_DSN.",
  ],
  [failure("CERT_HAS_EXPIRED"), "The certificate of ingest:1 has expired: renew it."],
  [failure("UND_ERR_SOCKET"), "ingest:1 closes the connection: check scheme and port in SENTRY_DSN."],
  [new Error("odd"), "ingest:1 cannot be reached (odd)."],
])("an ingest that cannot be reached (%#)", (error, message) =>
  expect(connectionProblem(error, "ingest:1", "SENTRY_DSN")).toBe(message),
);

test.each([
  [200, undefined],
  [403, /know the key of SENTRY_DSN/],
  [404, /different values of TUNNEL_PATH/],
  [405, /not the proxy's tunnel/],
  [429, /too many/],
  [503, /cannot reach the ingest/],
])("a tunnel that responds with %i", (status, message) => {
  if (message) expect(tunnelProblem(status, "/monitoring")).toMatch(message);
  else expect(tunnelProblem(status, "/monitoring")).toBeUndefined();
});

test("an upstream", () => {
  expect(upstreamProblem(200)).toBeUndefined();
  expect(upstreamProblem(500)).toContain("500");
});
