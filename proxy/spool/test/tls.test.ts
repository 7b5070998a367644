import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makePair } from "../../../deploy/test/support/certificate.ts";
import { envelope, send } from "./support/envelopes.ts";
import { metric } from "./support/metrics.ts";
import { type Stack, startStack, waitUntilReady } from "./support/stack.ts";
import { waitUntil } from "./support/wait.ts";

const folder = mkdtempSync(join(tmpdir(), "culvert-"));
const cert = join(folder, "server");
const dsns = { SENTRY_DSN: "https://key@recorder:9443/7", TUNNEL_ALLOWED_DSNS: "https://key@other:9443/8" };

let stack: Stack;
beforeAll(async () => {
  chmodSync(folder, 0o755);
  makePair(cert, ["recorder"]);
  stack = await startStack(dsns, { cert: folder, name: "other" });
});
afterAll(async () => {
  await stack?.stop();
  rmSync(folder, { recursive: true });
});

/** Sends one envelope to the spool; it stays queued, because the ingest is not trusted for this reason. */
async function expectQueued(destination: string, reason: string) {
  const headers = { "x-spool-destination": destination };
  expect((await send(stack.url, envelope(), headers)).status).toBe(200);
  await waitUntil(async () => (await stack.logs()).includes(`does not accept envelopes (${reason})`));
  expect(await metric(stack, 'queued_envelopes{category="error"}')).toBe(1);
}

test("an https ingest is trusted only with its CA and under its name", async () => {
  await expectQueued("https://recorder:9443/api/7/envelope/", "DEPTH_ZERO_SELF_SIGNED_CERT");
  expect(await stack.recorder.count()).toBe(0);
  await stack.replaceSpool(`--volume=${cert}.crt:/ca:ro`, "--env=INGEST_CA_FILE=/ca");
  await waitUntilReady(stack);
  await waitUntil(async () => (await metric(stack, 'delivered_total{category="error"}')) === 1);
  await expectQueued("https://other:9443/api/8/envelope/", "ERR_TLS_CERT_ALTNAME_INVALID");
  expect(await stack.recorder.count()).toBe(1);
});
