import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { makePair } from "../../deploy/test/support/certificate.ts";
import { label, must } from "../../deploy/test/support/docker.ts";
import { recorderImage } from "../../deploy/test/support/recorder/container.ts";
import { startProxy, type TestProxy } from "./proxy.ts";
import { type Response, send, sendH2 } from "./wire.ts";

/** All envelopes of a test come from one client. */
const unlimited = { TUNNEL_RATE_PER_CLIENT: "10000" };
const envelope = { method: "POST", path: "/monitoring", body: '{}\n{"type":"event"}\n{}\n' };
const folder = mkdtempSync(join(tmpdir(), "culvert-"));

let proxy: TestProxy;

/** All log lines of failed envelopes, from the proxy's own log. */
async function failedEnvelopes(): Promise<{ seconds: number }[]> {
  const lines = (await proxy.on("proxy", "logs")).split("\n");
  return lines.filter((line) => line.includes('"outcome":"failed"')).map((line) => JSON.parse(line));
}

/** The response that makes the SDK queue the envelope: 503 without Retry-After; pages are not affected. */
async function expectDown(answer: Response) {
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.body).reason).toBe("the ingest cannot be reached now");
  expect(answer.headers["retry-after"]).toBeUndefined();
  expect(answer.headers["cache-control"]).toBe("no-cache");
  expect((await send(proxy.port, { path: "/" })).status).toBe(200);
}

const second = () => Math.floor(Date.now() / 1_000);
/** Waits until the clock shows another second. */
async function nextSecond(): Promise<void> {
  const now = second();
  await expect.poll(second, { interval: 20 }).not.toBe(now);
}

/**
 * Waits until an envelope is accepted again, without a restart: ten seconds, and more on a slow machine. Nginx forgets the failures before
 * it only if they were in an earlier second (templates/ingest/upstream.conf).
 */
async function recovered(): Promise<void> {
  let failed = second();
  const isForgotten = async () => {
    const sent = second();
    const { status } = await send(proxy.port, envelope);
    if (status !== 200) failed = second();
    return status === 200 && sent > failed;
  };
  await expect.poll(isForgotten).toBe(true);
}

/** How long the slowest envelope took, in seconds, of those that failed since there were `mark`. */
async function longest(mark = 0): Promise<number> {
  const lines = async () => (await failedEnvelopes()).slice(mark);
  await expect.poll(async () => (await lines()).length).toBeGreaterThan(0);
  return Math.max(...(await lines()).map(({ seconds }) => seconds));
}

/** Moves the ingest to another address of its network, while `meanwhile` runs to no address at all. */
async function move(meanwhile: () => Promise<void>): Promise<void> {
  const look = (format: string) => proxy.on("ingest", "inspect", `--format=${format}`);
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

describe("an ingest that cannot accept envelopes", () => {
  beforeAll(async () => {
    proxy = await startProxy(unlimited);
  });
  afterEach(async () => {
    await proxy.ingest.answer({ status: 200, headers: {}, body: "{}" });
    await recovered();
  });
  afterAll(() => proxy?.stop());

  test("hanging: gets probes only, while no envelope waits longer than one timeout; then recovered", async () => {
    const mark = (await failedEnvelopes()).length;
    await proxy.ingest.answer({ status: 200, headers: {}, body: "", instead: "hang" });
    const many = (count: number) => Promise.all(Array.from({ length: count }, () => send(proxy.port, envelope)));
    for (const answer of await many(150)) expect(answer.status).toBe(503);
    const requests = await proxy.ingest.count();
    for (const answer of await many(20)) await expectDown(answer);
    expect((await proxy.ingest.count()) - requests).toBeLessThan(5);
    expect(await longest(mark)).toBeLessThan(15);
    await proxy.ingest.answer({ status: 200, headers: {}, body: "{}" });
    await recovered();
  });
  test("failing for one envelope in four: the others arrive", async () => {
    await proxy.ingest.answer({ status: 200, headers: {}, body: "", instead: "reset", only: "choke" });
    const statuses: Record<string, Set<number>> = { fine: new Set(), choke: new Set() };
    for (let n = 0; n < 420; n++) {
      // A fast machine would have a hundred failures within one second, which Nginx does not forget.
      if (n % 210 === 0) await nextSecond();
      const kind = n % 4 === 0 ? "choke" : "fine";
      statuses[kind]?.add((await send(proxy.port, { ...envelope, body: `${envelope.body}${kind}` })).status);
    }
    expect(statuses).toEqual({ fine: new Set([200]), choke: new Set([503]) });
  });
  // Of 5xx, the browser queues after 502, 503 and 504, and never if there is a Retry-After.
  test("answering 5xx", async () => {
    for (const status of [500, 503, 526, 529]) {
      await proxy.ingest.answer({ status, headers: { "retry-after": "600" }, body: "the ingest's own" });
      await expectDown(await send(proxy.port, envelope));
    }
  });
  test.each([301, 302, 307, 308])("redirecting with %i", async (status) => {
    await proxy.ingest.answer({ status, headers: { location: "https://elsewhere.example/" }, body: "" });
    await expectDown(await send(proxy.port, envelope));
  });
  test.each([
    ["one over HTTP/1.1", send],
    ["one over HTTP/2", sendH2],
  ])("answering something that is not HTTP: no byte of it reaches the browser, %s", async (_, by) => {
    const forged =
      "not HTTP\r\nSet-Cookie: session=forged\r\n\r\nHTTP/1.1 200 OK\r\nSet-Cookie: session=forged\r\n\r\n";
    await proxy.ingest.answer({ status: 200, headers: {}, body: forged, instead: "raw" });
    await expect(by(proxy.port, envelope)).rejects.toThrow(/hang up|reset|no answer|closed|code/i);
    const lines = async () => (await failedEnvelopes()).map((line) => JSON.stringify(line));
    await expect.poll(async () => (await lines()).at(-1)).toMatch(/"reason":"unreachable","status":9,/);
  });
  test("failing every time: gets probes, not every envelope", async () => {
    const metrics = () => proxy.internal("/metrics");
    const failed = async () =>
      Number(
        /^culvert_tunnel_envelopes_total\{outcome="failed",reason="unreachable"\} (\d+)$/m.exec(await metrics())?.[1],
      );
    await proxy.ingest.answer({ status: 200, headers: {}, body: "", instead: "reset" });
    const [before, mark] = [await failed(), await proxy.ingest.count()];
    const sendInTurn = async () => {
      for (let n = 0; n < 30; n++) expect((await send(proxy.port, envelope)).status).toBe(503);
    };
    await Promise.all(Array.from({ length: 10 }, sendInTurn));
    expect((await proxy.ingest.count()) - mark).toBeLessThan(250);
    // An answer is counted once it has been sent.
    await expect.poll(failed).toBe(before + 300);
    await proxy.ingest.answer({ status: 200, headers: {}, body: "{}" });
    await recovered();
  });
  test("answering 5xx every time: gets every envelope, since a response costs no wait", async () => {
    await proxy.ingest.answer({ status: 500, headers: {}, body: "" });
    const mark = await proxy.ingest.count();
    for (let n = 0; n < 20; n++) await expectDown(await send(proxy.port, envelope));
    expect((await proxy.ingest.count()) - mark).toBe(20);
  });
});

describe("an ingest", () => {
  afterEach(() => proxy?.stop());

  test("that is gone, then back at another address", async () => {
    proxy = await startProxy({}, { ownNetwork: true });
    await move(async () => expectDown(await send(proxy.port, envelope)));
    expect(await longest()).toBeLessThan(6);
  });
  test("of an unknown name", async () => {
    proxy = await startProxy({ SENTRY_DSN: "http://key@nowhere.invalid/7" });
    await expectDown(await send(proxy.port, envelope));
  });
});

describe("an https ingest", () => {
  const tls = join(folder, "server");
  beforeAll(() => {
    chmodSync(folder, 0o755);
    makePair(tls, ["ingest"]);
  });
  afterEach(() => proxy?.stop());
  // The certificate is for the first of its names alone.
  const ingestTls = { ingestCert: folder, ingestNames: ["other"] };
  const trusted = { settings: { INGEST_CA_FILE: "/ca" }, mounts: { [`${tls}.crt`]: "/ca" } };

  test("is not trusted without it", async () => {
    proxy = await startProxy({ SENTRY_DSN: "https://key@ingest:9443/7" }, ingestTls);
    await expectDown(await send(proxy.port, envelope));
    expect(await proxy.ingest.count()).toBe(0);
  });
  test("is not trusted under another name", async () => {
    proxy = await startProxy(
      { SENTRY_DSN: "https://key@other:9443/7", ...trusted.settings },
      { ...ingestTls, mounts: trusted.mounts },
    );
    await expectDown(await send(proxy.port, envelope));
    expect(await proxy.ingest.count()).toBe(0);
  });
});
