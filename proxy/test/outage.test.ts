import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { makePair } from "./certificate.ts";
import { type Edge, startEdge } from "./edge.ts";
import { type Response, send } from "./wire.ts";

const report = { method: "POST", path: "/monitoring", body: '{}\n{"type":"event"}\n{}\n' };
const folder = mkdtempSync(join(tmpdir(), "culvert-"));

let edge: Edge;
afterEach(() => edge?.stop());

/** The answer that makes the SDK keep the report: 503 without Retry-After, while pages go on. */
async function expectDown(answer: Response) {
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.body).reason).toBe("the ingest can not be reached now");
  expect(answer.headers["retry-after"]).toBeUndefined();
  expect(answer.headers["cache-control"]).toBe("no-store");
  expect((await send(edge.port, { path: "/" })).status).toBe(200);
}

/** Sends reports until one is accepted; the recovery that must need no restart. */
async function recovered(): Promise<void> {
  for (;;) if ((await send(edge.port, report)).status === 200) return;
}

describe("an ingest that can't take a report", () => {
  test("stopped, then back at another address", async () => {
    edge = await startEdge();
    await edge.on("ingest", "stop", "-t", "0");
    await expectDown(await send(edge.port, report));
    await edge.on("ingest", "start");
    await recovered();
  });
  test("hanging, then well", async () => {
    edge = await startEdge();
    await edge.ingest.answer({ status: 200, headers: {}, body: "", instead: "hang" });
    await expectDown(await send(edge.port, report));
    await edge.ingest.answer({ status: 200, headers: {}, body: "{}" });
    await recovered();
  });
  test("cutting the connection, then well", async () => {
    edge = await startEdge();
    await edge.ingest.answer({ status: 200, headers: {}, body: "", instead: "reset" });
    await expectDown(await send(edge.port, report));
    await edge.ingest.answer({ status: 200, headers: {}, body: "{}" });
    await recovered();
  });
  // Of 5xx, the browser keeps what 502, 503 or 504 was the answer to, and nothing that a Retry-After came with.
  test("answering 5xx", async () => {
    edge = await startEdge();
    for (const status of [500, 503, 526, 529, 590]) {
      await edge.ingest.answer({ status, headers: { "retry-after": "600" }, body: "its own word" });
      await expectDown(await send(edge.port, report));
    }
  });
  test("failing every time: asked now and then, not by each report", async () => {
    edge = await startEdge();
    await edge.ingest.answer({ status: 200, headers: {}, body: "", instead: "reset" });
    for (let n = 0; n < 100; n++) await expectDown(await send(edge.port, report));
    expect(await edge.ingest.count()).toBeLessThan(90);
    const metrics = () => edge.on("proxy", "exec", "curl", "-sS", "http://127.0.0.1:8081/metrics");
    expect(await metrics()).toMatch(/^culvert_tunnel_reports_total\{outcome="failed",reason="unreachable"\} 100$/m);
    expect(await metrics()).toMatch(/^culvert_ingest_out\{ingest="ingest:9000"\} 1$/m);
    await edge.ingest.answer({ status: 200, headers: {}, body: "{}" });
    await recovered();
    expect(await metrics()).toMatch(/^culvert_ingest_out\{ingest="ingest:9000"\} 0$/m);
  });
  test("answering 5xx every time: asked by each, since an answer costs no wait", async () => {
    edge = await startEdge();
    await edge.ingest.answer({ status: 500, headers: {}, body: "" });
    for (let n = 0; n < 20; n++) await expectDown(await send(edge.port, report));
    expect(await edge.ingest.count()).toBe(20);
  });
  test("of an unknown name", async () => {
    edge = await startEdge({ SENTRY_DSN: "http://key@nowhere.invalid/7" });
    await expectDown(await send(edge.port, report));
  });
});

describe("an https ingest", () => {
  const tls = join(folder, "server");
  beforeAll(() => {
    chmodSync(folder, 0o755);
    makePair(tls, ["ingest"]);
  });
  const trusted = { settings: { INGEST_CA_FILE: "/ca" }, mounts: { [`${tls}.crt`]: "/ca" } };

  test("is believed with its own CA", async () => {
    edge = await startEdge(
      { SENTRY_DSN: "https://key@ingest:9443/7", ...trusted.settings },
      { ingestCert: folder, mounts: trusted.mounts },
    );
    expect((await send(edge.port, report)).status).toBe(200);
    expect(await edge.ingest.count()).toBe(1);
  });
  test("is not believed without it", async () => {
    edge = await startEdge({ SENTRY_DSN: "https://key@ingest:9443/7" }, { ingestCert: folder });
    await expectDown(await send(edge.port, report));
    expect(await edge.ingest.count()).toBe(0);
  });
  test("is not believed under another name", async () => {
    edge = await startEdge(
      { SENTRY_DSN: "https://key@other:9443/7", ...trusted.settings },
      { ingestCert: folder, ingestNames: ["other"], mounts: trusted.mounts },
    );
    await expectDown(await send(edge.port, report));
    expect(await edge.ingest.count()).toBe(0);
  });
});
