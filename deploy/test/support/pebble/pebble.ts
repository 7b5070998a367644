import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makePair } from "../certificate.ts";
import { docker, label, must } from "../docker.ts";
import { buildWithDebian } from "../images.ts";

const here = fileURLToPath(new URL(".", import.meta.url));

/** An ACME CA at https://ca.test/dir with its own DNS server, in an existing network. */
export type Pebble = Awaited<ReturnType<typeof startPebble>>;

/** Starts one with certificates for `validity` seconds. With `eabKey`, base64url, it registers only accounts bound to that key, key-1. */
export async function startPebble(network: string, validity: number, eabKey = "") {
  const folder = mkdtempSync(join(tmpdir(), "culvert-pebble-"));
  makePair(join(folder, "ca"), ["ca.test"]);
  const image = await buildWithDebian();
  const container = await must(
    ...["run", "-d", label, `--network=${network}`, "--network-alias=ca.test"],
    ...["-p", "127.0.0.1::8055", `--env=EAB_KEY=${eabKey}`, `--env=VALIDITY_S=${validity}`],
    ...[`--volume=${folder}:/tls:ro`, `--volume=${here}start.sh:/start.sh:ro`, image, "sh", "/start.sh"],
  );
  const dns = `http://${(await must("port", container, "8055")).split("\n")[0]}`;
  const answer = "for port in 443 8055; do until (: </dev/tcp/127.0.0.1/$port) 2>/dev/null; do sleep 0.1; done; done";
  const up = await docker("exec", container, "timeout", "30", "bash", "-c", answer);
  if (up.code !== 0) throw new Error(`pebble did not come up: ${(await docker("logs", container)).output}`);
  return {
    container,
    /** The CA's own certificate on this machine, for its clients. */
    caFile: join(folder, "ca.crt"),
    /** Has this name lead to an address. */
    point: async (name: string, address: string) => {
      const body = JSON.stringify({ host: name, addresses: [address] });
      const { ok, status } = await fetch(`${dns}/add-a`, { method: "POST", body });
      if (!ok) throw new Error(`${name}: status ${status}`);
    },
    stop: async () => {
      await docker("rm", "-f", "-v", container);
      rmSync(folder, { recursive: true });
    },
  };
}
