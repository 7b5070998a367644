import { expect, test } from "vitest";
import { connectionProblem, ingestProblem, tunnelProblem, upstreamProblem } from "./messages";

test.each([
  [200, undefined],
  [403, /403: the key of SENTRY_DSN is unknown to it/],
  [404, /no such project/],
  [429, /quota/],
  [502, /failing/],
  [400, /may be no Sentry ingest/],
])("an ingest that answers %i", (status, words) => {
  if (words) expect(ingestProblem(status)).toMatch(words);
  else expect(ingestProblem(status)).toBeUndefined();
});

const failure = (code: string) => new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code }) });
test.each([
  [
    failure("ENOTFOUND"),
    "The name ingest:1 can't be resolved here: check the host in SENTRY_DSN, and this container's DNS.",
  ],
  [
    failure("EAI_AGAIN"),
    "The name ingest:1 can't be resolved here: web has no way out unless WEB_EGRESS=on; else check SENTRY_DSN.",
  ],
  [failure("ECONNREFUSED"), "Nothing listens at ingest:1: start it, or check the port in SENTRY_DSN."],
  [failure("UND_ERR_CONNECT_TIMEOUT"), "No answer from ingest:1: a firewall on the way, or it hangs."],
  [new DOMException("x", "TimeoutError"), "No answer from ingest:1: a firewall on the way, or it hangs."],
  [failure("SELF_SIGNED_CERT_IN_CHAIN"), "The certificate of ingest:1 is not trusted: give its CA as INGEST_CA_FILE."],
  [
    failure("ERR_TLS_CERT_ALTNAME_INVALID"),
    "The certificate of ingest:1 is for another name: use the name that is in it in SENTRY_DSN.",
  ],
  [failure("CERT_HAS_EXPIRED"), "The certificate of ingest:1 has expired: renew it."],
  [failure("UND_ERR_SOCKET"), "ingest:1 cuts the connection: check scheme and port in SENTRY_DSN."],
  [new Error("odd"), "ingest:1 can't be reached (odd)."],
])("an ingest that can't be asked (%#)", (error, words) =>
  expect(connectionProblem(error, "ingest:1", "SENTRY_DSN")).toBe(words),
);

test.each([
  [200, undefined],
  [403, /SENTRY_DSN is unknown/],
  [404, /different TUNNEL_PATHs/],
  [405, /other than the proxy's tunnel/],
  [429, /too many/],
  [503, /can't reach the ingest/],
])("a tunnel that answers %i", (status, words) => {
  if (words) expect(tunnelProblem(status, "/monitoring")).toMatch(words);
  else expect(tunnelProblem(status, "/monitoring")).toBeUndefined();
});

test("an upstream", () => {
  expect(upstreamProblem(200)).toBeUndefined();
  expect(upstreamProblem(500)).toContain("500");
});
