import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { envelope, hand, isEmpty } from "./report.ts";
import { type Stack, startStack, until } from "./stack.ts";

const folder = mkdtempSync(join(tmpdir(), "culvert-"));
const cert = join(folder, "server");
beforeAll(() => {
  const request =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=recorder -days 2 -addext subjectAltName=DNS:recorder";
  const files = ["-out", `${cert}.crt`, "-keyout", `${cert}.key`];
  execFileSync("openssl", [...request.split(" "), ...files], { stdio: "ignore" });
  chmodSync(folder, 0o755);
  chmodSync(`${cert}.key`, 0o644);
});
afterAll(() => rmSync(folder, { recursive: true }));

let stack: Stack;
afterEach(() => stack?.stop());

const ca = [`--volume=${cert}.crt:/ca:ro`, "--env=INGEST_CA_FILE=/ca"];

/** Hands over one envelope for a TLS ingest of this name; the recorder is that ingest. */
async function handOver(name: string, ...args: string[]) {
  stack = await startStack({ SENTRY_DSN: `https://key@${name}:9443/7` }, { args, cert: folder, name });
  const headers = { "x-spool-to": `https://${name}:9443/api/7/envelope/` };
  expect((await hand(await stack.url(), envelope(), headers)).status).toBe(200);
}

test("an https ingest is believed with its own CA", async () => {
  await handOver("recorder", ...ca);
  await until(() => isEmpty(stack));
  expect(await stack.recorder.count()).toBe(1);
});

test.each([
  ["without its CA", "recorder", [], "DEPTH_ZERO_SELF_SIGNED_CERT"],
  ["under another name", "other", ca, "ERR_TLS_CERT_ALTNAME_INVALID"],
])("an https ingest is not believed %s: the envelope waits", async (_, name, args, reason) => {
  await handOver(name, ...args);
  await until(async () => (await stack.logs()).includes(`takes nothing (${reason})`));
  await pause(2_000);
  expect(await stack.recorder.count()).toBe(0);
  expect(await isEmpty(stack)).toBe(false);
});
