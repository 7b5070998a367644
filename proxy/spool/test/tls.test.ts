import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { makePair } from "../../../deploy/test/support/certificate.ts";
import { outcome } from "./support/arrivals.ts";
import { envelope, newId, send } from "./support/envelopes.ts";
import { isEmpty, metric } from "./support/metrics.ts";
import { requestProxy } from "./support/proxy-request.ts";
import { type Options, type Stack, startStack } from "./support/stack.ts";
import { waitUntil } from "./support/wait.ts";

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

/** Starts a stack with the recorder as a TLS ingest of this name. */
async function startTls(name: string, options: Options) {
  stack = await startStack({ SENTRY_DSN: `https://key@${name}:9443/7` }, { ...options, cert: folder, name });
}

/** Sends one envelope for it to the spool. */
async function sendTo(name: string) {
  const headers = { "x-spool-destination": `https://${name}:9443/api/7/envelope/` };
  expect((await send(stack.url, envelope(), headers)).status).toBe(200);
}

test("a proxy that does not trust the ingest passes envelopes to a spool that trusts its CA", async () => {
  await startTls("recorder", { args: ca, proxy: true });
  await waitUntil(async () => (await requestProxy(stack.proxy, "/upstream")) === 200);
  const id = newId();
  expect(await requestProxy(stack.proxy, "/monitoring", envelope("event", id))).toBe(200);
  await waitUntil(async () => (await outcome(stack, [id])).lost === 0);
  // The ingest has it before the spool has read the answer.
  await waitUntil(async () => (await metric(stack, 'delivered_total{category="error"}')) === 1);
});

test.each([
  ["without its CA", "recorder", [], "DEPTH_ZERO_SELF_SIGNED_CERT"],
  ["under another name", "other", ca, "ERR_TLS_CERT_ALTNAME_INVALID"],
])("an https ingest is not trusted %s: the envelope stays queued", async (_, name, args, reason) => {
  await startTls(name, { args });
  await sendTo(name);
  await waitUntil(async () => (await stack.logs()).includes(`does not accept envelopes (${reason})`));
  expect(await stack.recorder.count()).toBe(0);
  expect(await isEmpty(stack)).toBe(false);
});
