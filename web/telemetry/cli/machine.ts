import { execFile } from "node:child_process";
import { accessSync, constants, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { defaults } from "../settings/defaults.js";
import { FOLDER, type Machine } from "./edits/container.js";

/** BuildKit rejects larger secrets. */
const MAX_CA_BYTES = 500_000;

/** Returns what the settings of the stack of this folder's app have to know of the machine. */
export async function inspectMachine(folder: string): Promise<Machine> {
  const free = (port: string) => freePort(Number(port), portsBeside(folder));
  const ports = {
    HTTPS_PORT: await free(defaults.HTTPS_PORT),
    HTTP_PORT: await free(defaults.HTTP_PORT),
    INGEST_PORT: await free(defaults.INGEST_PORT),
  };
  return { ports, buildCa: await findCa() };
}

/** Returns the first port from this one on that is none of `others` and that no program listens on, such as another stack. */
function freePort(port: number, others: string[]): Promise<number> {
  return new Promise((resolve) => {
    const next = () => resolve(freePort(port + 1, others));
    if (others.includes(String(port))) return next();
    const server = createServer();
    server.once("error", next);
    server.listen(port, () => server.close(() => resolve(port)));
  });
}

/** The ports of the apps in the folders beside this one, and beside the one above it: their stacks may be down. */
function portsBeside(folder: string): string[] {
  const parents = [join(folder, ".."), join(folder, "../..")];
  const folders = parents.flatMap((parent) => attempt(() => readdirSync(parent).map((name) => join(parent, name)), []));
  const settings = folders.map((beside) => attempt(() => readFileSync(join(beside, FOLDER, ".env"), "utf8"), ""));
  return settings.flatMap((text) => text.match(/(?<=^\w+_PORT=)\d+/gm) ?? []);
}

/** Not every folder can be read. */
function attempt<Result>(run: () => Result, otherwise: Result): Result {
  try {
    return run();
  } catch {
    return otherwise;
  }
}

/** Returns the extra CA that this machine's npm trusts, as behind an egress that inspects TLS; undefined without a usable one. */
async function findCa(): Promise<string | undefined> {
  const npmCa = () => promisify(execFile)("npm", ["config", "get", "cafile"]).catch(() => ({ stdout: "" }));
  const file = process.env.NODE_EXTRA_CA_CERTS || (await npmCa()).stdout.trim();
  // npm says "null" without one.
  const isUsable = () => accessSync(file, constants.R_OK) === undefined && statSync(file).size <= MAX_CA_BYTES;
  return file !== "null" && attempt(isUsable, false) ? file : undefined;
}
