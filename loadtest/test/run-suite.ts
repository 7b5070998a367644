import { type SpawnOptionsWithoutStdio, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { vi } from "vitest";
import { journeysFor } from "../journeys/index.ts";
import { readOptions } from "../lib/options.ts";
import { suite } from "../suite/suite.ts";
import type { Summary } from "../suite/summary.ts";
import { runScript } from "./k6-shim.ts";

export const DECLARED = {
  TRACE: "on",
  ROUTER: "app",
  NOINDEX: "header",
  TRACE_PAGE: "/trace",
  ECHO_PATH: "/api/echo",
  EXPECT_TEXT: "off",
  ACTION_PAGE: "/test-events",
  ACTION_FORM: "Call the upstream",
  ACTION_EXPECT: "received trace {trace}",
  REDIRECT_PAGE: "/test-events/redirect",
  REDIRECT_TO: "/trace",
  TUNNEL_PATH: "/monitoring",
  BROWSER: "off",
  EXPECT_HEADERS: "content-security-policy~nonce-",
  COMPRESSED: "on",
};

export const hasK6 = spawnSync("k6", ["version"]).status === 0;

export interface Outcome {
  summary: Summary | undefined;
  output: string;
  code: number | null;
}

const root = join(import.meta.dirname, "..");

export const settingsIn = (file: string, proposed = false): Record<string, string> =>
  Object.fromEntries(
    Array.from(file.matchAll(proposed ? /^#?([A-Z_]+)=(.*)/gm : /^([A-Z_]+)=(.*)/gm), (found) => found.slice(1)),
  );

export async function startReader(env: Record<string, string> = {}): Promise<{ url: string; stop: () => void }> {
  const all = { ...process.env, PORT: "0", HOST: "127.0.0.1", ...env };
  const child = spawn(process.execPath, [join(root, "reader.mjs")], { env: all, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface(child.stdout), "line");
  return { url: `http://127.0.0.1:${parseInt(line, 10)}`, stop: () => void child.kill() };
}

export async function start(program: string, args: string[], options: SpawnOptionsWithoutStdio) {
  const child = spawn(program, args, options);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const [code]: (number | null)[] = await once(child, "close");
  return { code: code ?? null, output };
}

export async function runK6(profile: string, env: Record<string, string>): Promise<Outcome> {
  const out = mkdtempSync(join(tmpdir(), "culvert-loadtest-"));
  // Only these variables of this process: vitest sets its own BASE_URL.
  const { PATH = "", HOME = "" } = process.env;
  const k6 = { K6_NO_USAGE_REPORT: "true", K6_AUTO_EXTENSION_RESOLUTION: "false", OUT: out, PROFILE: profile };
  const options = { cwd: root, env: { PATH, HOME, ...k6, ...DECLARED, ...env }, timeout: 600_000 };
  const ended = await start("k6", ["run", "--quiet", "main.ts"], options);
  const file = join(out, "summary.json");
  const summary = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
  rmSync(out, { recursive: true });
  return { ...ended, summary };
}

export async function runShim(profile: string, env: Record<string, string>, rounds = 2): Promise<Outcome> {
  vi.stubGlobal("__ENV", { OUT: "out", PROFILE: profile, ...env });
  try {
    const count = () => rounds * journeysFor(readOptions(env)).length;
    const { files, code, problem } = await runScript(suite(profile), count);
    const { "out/summary.json": summary = "", "out/summary.txt": output = "" } = files;
    return { summary: JSON.parse(summary) as Summary, output: problem || output, code };
  } finally {
    vi.unstubAllGlobals();
  }
}
