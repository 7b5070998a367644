import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { makePair } from "../../deploy/test/support/certificate.ts";
import { label, must } from "../../deploy/test/support/docker.ts";
import { type Edge, recorderImage, startEdge } from "./edge.ts";
import { type Response, send } from "./wire.ts";

/** All of a test's reports come from one visitor. */
const unlimited = { TUNNEL_RATE_PER_CLIENT: "10000" };
const report = { method: "POST", path: "/monitoring", body: '{}\n{"type":"event"}\n{}\n' };
const folder = mkdtempSync(join(tmpdir(), "culvert-"));

let edge: Edge;
afterEach(() => edge?.stop());

/** The answer that makes the SDK keep the report: 503 without Retry-After, while pages go on. */
async function expectDown(answer: Response) {
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.body).reason).toBe("the ingest cannot be reached now");
  expect(answer.headers["retry-after"]).toBeUndefined();
  expect(answer.headers["cache-control"]).toBe("no-store");
  expect((await send(edge.port, { path: "/" })).status).toBe(200);
}

/** Waits for a report that is accepted again: ten seconds and what a slow machine adds, without a restart. */
const recovered = () => expect.poll(async () => (await send(edge.port, report)).status, { timeout: 20_000 }).toBe(200);

/** How long the edge took for the report that it thought about longest, in seconds of its own log. */
async function longest(): Promise<number> {
  const lines = async () =>
    (await edge.on("proxy", "logs")).split("\n").filter((line) => line.includes('"outcome":"failed"'));
  await expect.poll(async () => (await lines()).length).toBeGreaterThan(0);
  return Math.max(...(await lines()).map((line) => JSON.parse(line).seconds));
}

/** Moves the ingest to another address of its network, while `meanwhile` runs to no address at all. */
async function move(meanwhile: () => Promise<void>): Promise<void> {
  const look = (format: string) => edge.on("ingest", "inspect", `--format=${format}`);
  const address = () => look("{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}");
  const [network, name, old] = [
    await look("{{.HostConfig.NetworkMode}}"),
    (await look("{{.Name}}")).slice(1),
    await address(),
  ];
  await must("network", "disconnect", network, name);
  await meanwhile();
  // Docker gives away the first address that is free.
  const squatter = await must("run", "-d", label, `--network=${network}`, recorderImage, "sleep", "300");
  try {
    await must("network", "connect", "--alias=ingest", network, name);
    expect(await address()).not.toBe(old);
    await recovered();
  } finally {
    await must("rm", "-f", squatter);
  }
}

describe("an ingest that can't take a report", () => {
  test("gone, then back at another address", async () => {
    edge = await startEdge();
    await move(async () => expectDown(await send(edge.port, report)));
    expect(await longest()).toBeLessThan(6);
  });
  test("hanging for all: asked now and then, while no report waits longer than for one answer; then well", async () => {
    edge = await startEdge(unlimited);
    await edge.ingest.answer({ status: 200, headers: {}, body: "", instead: "hang" });
    const many = (count: number) => Promise.all(Array.from({ length: count }, () => send(edge.port, report)));
    for (const answer of await many(150)) expect(answer.status).toBe(503);
    const asked = await edge.ingest.count();
    for (const answer of await many(20)) await expectDown(answer);
    expect((await edge.ingest.count()) - asked).toBeLessThan(5);
    expect(await longest()).toBeLessThan(15);
    await edge.ingest.answer({ status: 200, headers: {}, body: "{}" });
    await recovered();
  });
  test("choking on one report in four: the others arrive", async () => {
    edge = await startEdge(unlimited);
    await edge.ingest.answer({ status: 200, headers: {}, body: "", instead: "reset", only: "choke" });
    const statuses: Record<string, Set<number>> = { fine: new Set(), choke: new Set() };
    for (let n = 0; n < 420; n++) {
      const kind = n % 4 === 0 ? "choke" : "fine";
      statuses[kind]?.add((await send(edge.port, { ...report, body: `${report.body}${kind}` })).status);
    }
    expect(statuses).toEqual({ fine: new Set([200]), choke: new Set([503]) });
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
    edge = await startEdge(unlimited);
    await edge.ingest.answer({ status: 200, headers: {}, body: "", instead: "reset" });
    const lane = async () => {
      for (let n = 0; n < 30; n++) expect((await send(edge.port, report)).status).toBe(503);
    };
    await Promise.all(Array.from({ length: 10 }, lane));
    expect(await edge.ingest.count()).toBeLessThan(250);
    const metrics = () => edge.on("proxy", "exec", "curl", "-sS", "http://127.0.0.1:8081/metrics");
    expect(await metrics()).toMatch(/^culvert_tunnel_envelopes_total\{outcome="failed",reason="unreachable"\} 300$/m);
    expect(await metrics()).toMatch(/^culvert_ingest_down\{ingest="ingest:9000"\} 1$/m);
    await edge.ingest.answer({ status: 200, headers: {}, body: "{}" });
    await recovered();
    expect(await metrics()).toMatch(/^culvert_ingest_down\{ingest="ingest:9000"\} 0$/m);
  });
  test("answering 5xx every time: asked by each, since an answer costs no wait", async () => {
    edge = await startEdge(unlimited);
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
