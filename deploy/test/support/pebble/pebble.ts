import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makePair } from "../certificate.ts";
import { docker, label, must } from "../docker.ts";
import { buildWithDebian } from "../images.ts";

const here = fileURLToPath(new URL(".", import.meta.url));

/** An ACME CA at https://ca.test/dir with its own DNS server, in an existing network. */
export interface Pebble {
  container: string;
  /** The CA's own certificate on this machine, for its clients. */
  caFile: string;
  /** Has this name lead to an address. */
  point(name: string, address: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts one with certificates for `validity` seconds. With `eabKey`, base64url, it registers only accounts bound to that key, key-1. */
export async function startPebble(network: string, validity: number, eabKey = ""): Promise<Pebble> {
  const folder = mkdtempSync(join(tmpdir(), "culvert-pebble-"));
  makePair(join(folder, "ca"), ["ca.test"]);
  const image = await buildWithDebian();
  const container = await must(
    ...["run", "-d", label, `--network=${network}`, "--network-alias=ca.test"],
    ...["-p", "127.0.0.1::8055", `--env=EAB_KEY=${eabKey}`, `--env=VALIDITY_S=${validity}`],
    ...[`--volume=${folder}:/tls:ro`, `--volume=${here}start.sh:/start.sh:ro`, image, "sh", "/start.sh"],
  );
  const dns = `http://${(await must("port", container, "8055")).split("\n")[0]}`;
  const listens =
    "require('net').connect(PORT, '127.0.0.1').on('error', () => process.exit(1)).on('connect', () => process.exit(0))";
  const answers = (port: number) => `until node -e "${listens.replace("PORT", String(port))}"; do sleep 0.1; done`;
  const all = [443, 8055].map(answers).join("; ");
  const up = await docker("exec", container, "timeout", "30", "sh", "-c", all);
  if (up.code !== 0) throw new Error(`pebble did not come up: ${(await docker("logs", container)).output}`);
  return {
    container,
    caFile: join(folder, "ca.crt"),
    point: async (name, address) => {
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
