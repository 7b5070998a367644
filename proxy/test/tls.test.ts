import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConnectionOptions, connect, getCiphers, type SecureVersion } from "node:tls";
import { describe, expect, test } from "vitest";
import { makePair } from "../../deploy/test/support/certificate.ts";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { useProxy } from "./use-proxy.ts";
import { send } from "./wire.ts";

const folder = mkdtempSync(join(tmpdir(), "culvert-"));
chmodSync(folder, 0o755);
makePair(join(folder, "rsa"), ["localhost"], "test", "rsa");

const shared = useProxy({ HTTP3: "on" });
const withRsa = useProxy(
  { TLS_CERT_FILE: "/tls/rsa.crt", TLS_KEY_FILE: "/tls/rsa.key" },
  { mounts: { [folder]: "/tls" } },
);

/** Shakes hands as these options say; returns the session ticket, if any, or throws the proxy's objection. */
function handshake(port: number, options: ConnectionOptions): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false, ...options }, () => {
      resolve(socket.getTLSTicket());
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

/** This version alone, with these suites at whatever strength. TLS 1.3 has no strengths to choose from. */
const only = (version: SecureVersion, suites = "ALL") => ({
  ...{ minVersion: version, maxVersion: version },
  ciphers: version === "TLSv1.3" ? suites : `${suites}:@SECLEVEL=0`,
});

/** Those of these suites with which a handshake succeeds. */
async function accepted(port: number, version: SecureVersion, suites: string[]): Promise<string[]> {
  const tried = suites.map(async (suite) => {
    await handshake(port, only(version, suite));
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
    await expect(handshake(shared.proxy.port, only(version))).rejects.toThrow(/alert protocol version/);
  });
  test("no ticket is given that holds a session's keys", async () => {
    expect(await handshake(shared.proxy.port, only("TLSv1.2"))).toBeUndefined();
  });
});

test("HTTP/3 is offered where Nginx has it, and tells web the same", async () => {
  const modules = await shared.proxy.on("proxy", "exec", "nginx", "-V");
  await shared.proxy.web.answer({ status: 200, headers: {}, body: "hello" });
  const { headers } = await send(shared.proxy.port, { path: "/" });
  if (!modules.includes("http_v3_module")) {
    expect(headers["alt-svc"]).toBeUndefined();
    return;
  }
  expect(headers["alt-svc"]).toBe('h3=":8443"; ma=86400');
  const mark = await shared.proxy.web.count();
  const version = await shared.proxy.on(
    "proxy",
    "exec",
    "curl",
    "-sk",
    "--http3-only",
    "-o",
    "/dev/null",
    "-w",
    "%{http_version}",
    "https://localhost:8443/h3",
  );
  expect(version).toBe("3");
  const [request] = await shared.proxy.web.all(mark);
  expect(request && headerOf(request, "x-forwarded-host")).toBe("localhost:8443");
});
