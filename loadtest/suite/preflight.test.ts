import { describe, expect, it } from "vitest";
import { readOptions } from "../lib/options.ts";
import { targetProblem } from "./preflight.ts";

const options = readOptions({});
const response = {
  status: 200,
  headers: { "content-type": "text/html" },
  body: "",
  milliseconds: 1,
  error: "",
  at: "GET /",
  traceId: "",
};
const noResponse = (error: string) => targetProblem(options, "/", { ...response, status: 0, error });

describe("a target", () => {
  it("is accepted if its page carries a trace", () => {
    const body = `<meta name="sentry-trace" content="${"a".repeat(32)}-${"b".repeat(16)}"/>`;
    expect(targetProblem(options, "/", { ...response, body })).toBe("");
  });

  it.each([
    ["lookup no.such.host: no such host", "host not found"],
    [
      "tls: failed to verify certificate: x509: certificate signed by unknown authority",
      "not trusted: set SSL_CERT_FILE to its CA",
    ],
    ["dial tcp 127.0.0.1:1: connect: connection refused", "connection refused: is the stack up"],
    ["tls: first record does not look like a TLS handshake", "not TLS"],
    ["request timeout", "no response (request timeout)"],
  ])("is rejected with a clear message: %s", (error, words) => {
    expect(noResponse(error)).toContain(words);
    expect(noResponse(error)).toMatch(/^BASE_URL https:\/\/localhost:8443: [^\n]+$/);
  });

  it("is rejected if it is another kind of app, or the page does not exist", () => {
    expect(targetProblem(options, "/", response)).toContain("set TRACE=off for an app without Sentry's tracing");
    expect(targetProblem(readOptions({ TRACE: "off" }), "/", response)).toBe("");
    expect(targetProblem(options, "/x", { ...response, status: 404 })).toContain("set PAGES to pages that exist");
  });
});
