import { describe, expect, it } from "vitest";
import { readKnobs } from "./knobs.ts";
import { unfit } from "./preflight.ts";

const knobs = readKnobs({});
const answer = { status: 200, headers: { "content-type": "text/html" }, body: "", milliseconds: 1, error: "" };
const silence = (error: string) => unfit(knobs, "/", { ...answer, status: 0, error });

describe("a target", () => {
  it("is fit when its page carries a trace", () => {
    const body = `<meta name="sentry-trace" content="${"a".repeat(32)}-${"b".repeat(16)}"/>`;
    expect(unfit(knobs, "/", { ...answer, body })).toBe("");
  });

  it.each([
    ["lookup no.such.host: no such host", "host not found"],
    [
      "tls: failed to verify certificate: x509: certificate signed by unknown authority",
      "not trusted: name its CA in SSL_CERT_FILE",
    ],
    ["dial tcp 127.0.0.1:1: connect: connection refused", "nothing listens there"],
    ["tls: first record does not look like a TLS handshake", "no TLS there"],
    ["request timeout", "no answer (request timeout)"],
  ])("is refused plainly: %s", (error, words) => {
    expect(silence(error)).toContain(words);
    expect(silence(error)).toMatch(/^BASE_URL https:\/\/localhost:8443: [^\n]+$/);
  });

  it("is refused when it is something else, or the page is not there", () => {
    expect(unfit(knobs, "/", answer)).toContain("not an app with Sentry's tracing");
    expect(unfit(knobs, "/x", { ...answer, status: 404 })).toContain("name pages that exist in PAGES");
  });
});
