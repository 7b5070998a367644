import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { createServer } from "node:net";
import { promisify } from "node:util";
import type { Machine } from "./edits/container.js";

/** BuildKit rejects larger secrets. */
const MAX_CA_BYTES = 500_000;

/** Returns what the stack's settings have to know of this machine. */
export async function inspectMachine(): Promise<Machine> {
  const [HTTPS_PORT, HTTP_PORT, INGEST_PORT, buildCa] = await Promise.all([
    ...([freePort(8443), freePort(8080), freePort(8969)] as const),
    findCa(),
  ]);
  return { ports: { HTTPS_PORT, HTTP_PORT, INGEST_PORT }, buildCa };
}

/** Returns the first port from this one on that no program listens on, such as another stack. */
function freePort(port: number): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(freePort(port + 1)));
    server.listen(port, () => server.close(() => resolve(port)));
  });
}

/** Returns the extra CA that this machine's npm trusts, as behind an egress that inspects TLS; undefined without a usable one. */
async function findCa(): Promise<string | undefined> {
  const file = process.env.NODE_EXTRA_CA_CERTS || (await npmCa());
  try {
    if (!file || statSync(file).size > MAX_CA_BYTES) return undefined;
    accessSync(file, constants.R_OK);
    return file;
  } catch {
    return undefined;
  }
}

async function npmCa(): Promise<string | undefined> {
  const { stdout } = await promisify(execFile)("npm", ["config", "get", "cafile"]).catch(() => ({ stdout: "" }));
  return stdout.trim().replace(/^(?:null|undefined)$/, "") || undefined;
}
