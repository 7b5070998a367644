import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makePair } from "../../../deploy/test/support/certificate.ts";
import type { Recorder } from "../../../deploy/test/support/recorder/client.ts";
import type { TestNetwork } from "../test-network.ts";

// Of the DSNs in the apps' code.
export const HOST = "o4509632503087104.ingest.de.sentry.io";
export const PROJECTS = { wizard: "4509632503218256", "app-router": "4509632503218257" };

/** Returns the DSN in an app's code. */
export const dsnOf = (name: keyof typeof PROJECTS) =>
  `https://3a1b2c3d4e5f60718293a4b5c6d7e8f9@${HOST}/${PROJECTS[name]}`;

/** Forwards port 443 to the recorder. */
const forward =
  "require('net').createServer(s=>{const t=require('net').connect(9443,'recorder');s.on('error',()=>t.destroy());t.on('error',()=>s.destroy());s.pipe(t).pipe(s)}).listen(443)";

/** Starts a recorder that is also Sentry's host in the network. Returns it, and the file with the CA of its certificate. */
export async function startSentryHost(network: TestNetwork): Promise<{ recorder: Recorder; ca: string }> {
  const home = mkdtempSync(join(tmpdir(), "culvert-"));
  chmodSync(home, 0o755);
  makePair(join(home, "server"), [HOST]);
  const recorder = await network.startRecorder([], home);
  await network.run(HOST, ["node:24-trixie-slim", "node", "-e", forward]);
  return { recorder, ca: join(home, "server.crt") };
}
