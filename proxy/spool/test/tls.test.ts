import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { makePair } from "../../../deploy/test/support/certificate.ts";
import { envelope, hand, isEmpty, metric, newId, outcome } from "./report.ts";
import { type Options, type Stack, startStack, until } from "./stack.ts";
import { ask } from "./visitors.ts";

const folder = mkdtempSync(join(tmpdir(), "culvert-"));
const cert = join(folder, "server");
beforeAll(() => {
  chmodSync(folder, 0o755);
  makePair(cert, ["recorder"]);
});
afterAll(() => rmSync(folder, { recursive: true }));

let stack: Stack;
afterEach(() => stack?.stop());

const ca = [`--volume=${cert}.crt:/ca:ro`, "--env=INGEST_CA_FILE=/ca"];

/** Starts a stack for a TLS ingest of this name; the recorder is that ingest. */
async function startTls(name: string, options: Options) {
  stack = await startStack({ SENTRY_DSN: `https://key@${name}:9443/7` }, { ...options, cert: folder, name });
}

/** Hands over one envelope for it. */
async function handOver(name: string) {
  const headers = { "x-spool-destination": `https://${name}:9443/api/7/envelope/` };
  expect((await hand(stack.url, envelope(), headers)).status).toBe(200);
}

test("a proxy that does not believe the ingest hands over to a spool that does, with its CA", async () => {
  await startTls("recorder", { args: ca, proxy: true });
  await until(async () => (await ask(stack.proxy, "/upstream")) === 200);
  const id = newId();
  expect(await ask(stack.proxy, "/monitoring", envelope("event", id))).toBe(200);
  await until(async () => (await outcome(stack, [id])).lost === 0);
  expect(await metric(stack, 'delivered_total{category="error"}')).toBe(1);
});

test.each([
  ["without its CA", "recorder", [], "DEPTH_ZERO_SELF_SIGNED_CERT"],
  ["under another name", "other", ca, "ERR_TLS_CERT_ALTNAME_INVALID"],
])("an https ingest is not believed %s: the envelope waits", async (_, name, args, reason) => {
  await startTls(name, { args });
  await handOver(name);
  await until(async () => (await stack.logs()).includes(`does not accept envelopes (${reason})`));
  expect(await stack.recorder.count()).toBe(0);
  expect(await isEmpty(stack)).toBe(false);
});
