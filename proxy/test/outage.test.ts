import { Agent } from "node:https";
import { join } from "node:path";
import { afterEach, describe, expect, inject, test } from "vitest";
import { must } from "../../deploy/test/support/docker.ts";
import { startProxy, type TestProxy } from "./proxy.ts";
import { envelope as body, changed, ok, page, useProxy } from "./use-proxy.ts";
import { type Response, send, sendH2 } from "./wire.ts";

const envelope = { method: "POST", path: "/monitoring", body };

/** The response that makes the SDK queue the envelope: 503 without Retry-After. */
function expectDown(answer: Response) {
  expect(answer).toMatchObject({ status: 503, headers: { "cache-control": "no-cache" } });
  expect(JSON.parse(answer.body).reason).toBe("the ingest cannot be reached now");
  expect(answer.headers["retry-after"]).toBeUndefined();
}

const second = () => Math.floor(Date.now() / 1_000);
/** Waits until an envelope is accepted again, without a restart: ten seconds, and more on a slow machine. */
const recovered = ({ port }: TestProxy) => expect.poll(async () => (await send(port, envelope)).status).toBe(200);

describe("an ingest that cannot accept envelopes", () => {
  // All envelopes of a test come from one client.
  const shared = useProxy({ TUNNEL_RATE_PER_CLIENT: "10000" });
  afterEach(async () => {
    await shared.proxy.ingest.answer(ok);
    await recovered(shared.proxy);
  });

  test("failing for one envelope in four: the others arrive", async () => {
    const { port, ingest } = shared.proxy;
    await ingest.answer({ ...ok, instead: "reset", only: "choke" });
    const statuses: Record<string, Set<number>> = { fine: new Set(), choke: new Set() };
    const agent = new Agent({ keepAlive: true });
    for (let n = 0; n < 420; n++) {
      // A fast machine would have a hundred failures within one second, which Nginx does not forget (templates/ingest/upstream.conf).
      if (n % 210 === 0) await expect.poll(second, { interval: 20 }).not.toBe(second());
      const kind = n % 4 === 0 ? "choke" : "fine";
      statuses[kind]?.add((await send(port, { ...envelope, body: `${body}${kind}` }, agent)).status);
    }
    agent.destroy();
    expect(statuses).toEqual({ fine: new Set([200]), choke: new Set([503]) });
  });
  // Of 5xx, the browser queues after 502, 503 and 504, and never if there is a Retry-After.
  test.each([301, 307, 308, 500, 501, 507, 511, 525, 526, 529])(
    "answering %i: gets every envelope, since a response costs no wait",
    async (status) => {
      const headers = { "retry-after": "600", location: "https://elsewhere.example/" };
      await shared.proxy.ingest.answer({ status, headers, body: "the ingest's own" });
      const { answer, received } = await shared.post();
      expectDown(answer);
      expect(received).toHaveLength(1);
    },
  );
  test.each([
    ["one over HTTP/1.1", send],
    ["one over HTTP/2", sendH2],
  ])("answering something that is not HTTP: no byte of it reaches the browser, %s", async (_, by) => {
    const forged =
      "not HTTP\r\nSet-Cookie: session=forged\r\n\r\nHTTP/1.1 200 OK\r\nSet-Cookie: session=forged\r\n\r\n";
    await shared.proxy.ingest.answer({ ...ok, body: forged, instead: "raw" });
    await expect(by(shared.proxy.port, envelope)).rejects.toThrow(/hang up|reset|no answer|closed|code/i);
    await shared.proxy.logged('"reason":"unreachable","status":9,');
  });
});

describe("an ingest", () => {
  let proxy: TestProxy;
  afterEach(() => proxy?.stop());

  test("that hangs gets probes only; pages go on", async () => {
    const mounts = changed("templates/forward-to-ingest.conf", "proxy_read_timeout 10s", "proxy_read_timeout 1s");
    // All envelopes of a test come from one client.
    proxy = await startProxy({ TUNNEL_RATE_PER_CLIENT: "10000" }, { mounts });
    const { port, ingest, web } = proxy;
    await Promise.all([ingest.answer({ ...ok, instead: "hang" }), web.answer(page)]);
    const many = (count: number) => Promise.all(Array.from({ length: count }, () => send(port, envelope)));
    // Those that ask at once all fail at the address itself, further ones at the backup that it is as well.
    for (const count of [150, 150]) for (const { status } of await many(count)) expect(status).toBe(503);
    const requests = await ingest.count();
    for (const answer of await many(20)) expectDown(answer);
    expect((await send(port, { path: "/" })).status).toBe(200);
    expect((await ingest.count()) - requests).toBeLessThan(5);
    await ingest.answer(ok);
    await recovered(proxy);
  });
  test("that is gone, then back at another address", async () => {
    proxy = await startProxy();
    const network = await proxy.on("web", "inspect", "--format={{.HostConfig.NetworkMode}}");
    await proxy.on("ingest", "stop", "-t", "0");
    expectDown(await send(proxy.port, envelope));
    // From now on, web's recorder has its name.
    await must("network", "disconnect", network, `${network}-web`);
    await must("network", "connect", "--alias=web", "--alias=ingest", network, `${network}-web`);
    await recovered(proxy);
  });

  test("of whose addresses two answer no connection: each costs one envelope two seconds", async () => {
    proxy = await startProxy({}, { silent: ["ingest", "ingest"] });
    for (let n = 0; n < 20; n++) expect((await send(proxy.port, envelope)).status).toBe(200);
    const attempts = async () => {
      const lines = (await proxy.log()).split("\n").filter((line) => line.includes('"outcome":'));
      return lines.map((line) => JSON.parse(line).upstream_seconds.split(", "));
    };
    await expect.poll(attempts).toHaveLength(20);
    expect((await attempts()).flat().length).toBeLessThanOrEqual(22);
  });
  test("that is gone, while two addresses of the spool answer no connection and its Service does: every envelope is queued", async () => {
    const settings = { SPOOL_UPSTREAM: "spools:8082", SPOOL_FALLBACK_UPSTREAM: "spool:8082" };
    const silent = ["spools", "spools"];
    proxy = await startProxy({ ...settings, SENTRY_DSN: "http://key@ingest:9/7" }, { spool: true, silent });
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(proxy.port, envelope)));
    for (const { status } of answers) expect(status).toBe(200);
  });

  const trusted = { INGEST_CA_FILE: "/ca" };
  const mounts = { [join(inject("folder"), "server.crt")]: "/ca" };
  test.each<[string, Record<string, string>]>([
    ["of an unknown name", { SENTRY_DSN: "http://key@nowhere.invalid/7" }],
    ["with a certificate of an unknown CA", { SENTRY_DSN: "https://key@ingest:9443/7" }],
    ["with another name's certificate", { SENTRY_DSN: "https://key@other:9443/7", ...trusted }],
  ])("%s gets nothing", async (_, settings) => {
    proxy = await startProxy(settings, { mounts });
    await proxy.web.answer(page);
    expectDown(await send(proxy.port, envelope));
    expect((await send(proxy.port, { path: "/" })).status).toBe(200);
    expect(await proxy.ingest.count()).toBe(0);
  });
});
