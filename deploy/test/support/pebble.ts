import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makePair } from "./certificate.ts";
import { docker, label, must } from "./docker.ts";
import { buildWithDebian } from "./images.ts";

/** An ACME CA at https://ca.test/dir with its own DNS server. Names must answer the challenge at port 8080. */
export type Pebble = Awaited<ReturnType<typeof startPebble>>;

/** Starts one with certificates for `validity` seconds. With `eabKey`, base64url, it registers only accounts bound to that key, key-1. */
export async function startPebble(network: string, validity: number, eabKey = "") {
  const folder = mkdtempSync(join(tmpdir(), "culvert-pebble-"));
  makePair(join(folder, "ca"), ["ca.test"]);
  const pebble = {
    listenAddress: "0.0.0.0:443",
    managementListenAddress: "0.0.0.0:15000",
    httpPort: 8080,
    tlsPort: 8443,
    certificate: "/tls/ca.crt",
    privateKey: "/tls/ca.key",
    certificateValidityPeriod: validity,
    ...(eabKey && { externalAccountBindingRequired: true, externalAccountMACKeys: { "key-1": eabKey } }),
  };
  writeFileSync(join(folder, "config.json"), JSON.stringify({ pebble }));
  // A name without an address does not exist.
  const names = "pebble-challtestsrv -defaultIPv4 '' -defaultIPv6 '' -http01 '' -https01 '' -tlsalpn01 '' -doh ''";
  const container = await must(
    "run",
    "-d",
    label,
    `--network=${network}`,
    "--network-alias=ca.test",
    "-p",
    "127.0.0.1::8055",
    "--env=PEBBLE_VA_NOSLEEP=1",
    "--env=PEBBLE_AUTHZREUSE=0",
    `--volume=${folder}:/tls:ro`,
    await buildWithDebian(),
    "sh",
    "-c",
    `${names} & exec pebble -config /tls/config.json -dnsserver 127.0.0.1:8053`,
  );
  const dns = `http://${(await must("port", container, "8055")).split("\n")[0]}`;
  const answer = "for port in 443 8055; do until (: </dev/tcp/127.0.0.1/$port) 2>/dev/null; do sleep 0.1; done; done";
  const up = await docker("exec", container, "timeout", "300", "bash", "-c", answer);
  if (up.code !== 0) throw new Error(`pebble did not come up: ${(await docker("logs", container)).output}`);
  return {
    container,
    caFile: join(folder, "ca.crt"),
    point: async (name: string, address: string) => {
      const body = JSON.stringify({ host: name, addresses: [address] });
      const { ok, status } = await fetch(`${dns}/add-a`, { method: "POST", body });
      if (!ok) throw new Error(`${name}: status ${status}`);
    },
    stop: async () => {
      await docker("rm", "-f", "-v", container);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
