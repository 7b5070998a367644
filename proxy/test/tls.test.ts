import { join } from "node:path";
import { type ConnectionOptions, getCiphers, type SecureVersion } from "node:tls";
import { describe, expect, test } from "vitest";
import { makePair } from "../../deploy/test/support/certificate.ts";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { publicFolder, useProxy } from "./use-proxy.ts";
import { shakeHands } from "./wire.ts";

const folder = publicFolder();
makePair(join(folder, "rsa"), ["localhost"], "test", "rsa");

const shared = useProxy({ HTTP3: "on" });
const withRsa = useProxy(
  { TLS_CERT_FILE: "/tls/rsa.crt", TLS_KEY_FILE: "/tls/rsa.key" },
  { mounts: { [folder]: "/tls" } },
);

/** This version alone, with these suites at whatever strength. TLS 1.3 has no strengths to choose from. */
const only = (version: SecureVersion, suites = "ALL"): ConnectionOptions => ({
  minVersion: version,
  maxVersion: version,
  ciphers: version === "TLSv1.3" ? suites : `${suites}:@SECLEVEL=0`,
});

/** Those of these suites with which a handshake succeeds. */
async function accepted(port: number, version: SecureVersion, suites: string[]): Promise<string[]> {
  const tried = suites.map(async (suite) => {
    await shakeHands(port, only(version, suite));
    return suite;
  });
  const outcomes = await Promise.allSettled(tried);
  return outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : [])).sort();
}

describe("of all that a client can ask for", () => {
  const suites = getCiphers().map((name) => name.toUpperCase());
  const strong = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"];

  test("TLS 1.3 accepts its three suites", async () => {
    const of13 = suites.filter((name) => name.startsWith("TLS_"));
    expect(await accepted(shared.proxy.port, "TLSv1.3", of13)).toEqual([
      "TLS_AES_128_GCM_SHA256",
      "TLS_AES_256_GCM_SHA384",
      "TLS_CHACHA20_POLY1305_SHA256",
    ]);
  });
  test.each([
    ["ECDSA", shared],
    ["RSA", withRsa],
  ])("TLS 1.2 accepts nothing without forward secrecy and AEAD, with an %s certificate", async (kind, { proxy }) => {
    const of12 = suites.filter((name) => !name.startsWith("TLS_"));
    expect(of12).toContain("AES128-SHA");
    expect(await accepted(proxy.port, "TLSv1.2", of12)).toEqual(strong.map((name) => `ECDHE-${kind}-${name}`));
  });
  // The alert shows that the proxy rejects it, not a client that lacks it.
  test.each(["TLSv1", "TLSv1.1"] as const)("%s is rejected", async (version) => {
    await expect(shakeHands(shared.proxy.port, only(version))).rejects.toThrow(/alert protocol version/);
  });
  test("no ticket is given that holds a session's keys", async () => {
    expect((await shakeHands(shared.proxy.port, only("TLSv1.2"))).ticket).toBeUndefined();
  });
});

test("HTTP/3 is offered, and tells web the same", async () => {
  expect((await shared.through()).answer.headers["alt-svc"]).toBe('h3=":8443"; ma=86400');
  const mark = await shared.proxy.web.count();
  const curl = "curl -sk --http3-only -o /dev/null -w %{http_version} https://localhost:8443/h3".split(" ");
  expect(await shared.proxy.on("proxy", "exec", ...curl)).toBe("3");
  const [request] = await shared.proxy.web.all(mark);
  expect(request && headerOf(request, "x-forwarded-host")).toBe("localhost:8443");
});
