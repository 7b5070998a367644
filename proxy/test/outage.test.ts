import { Agent } from "node:https";
import { getTunnelPath } from "@sentry/core";
import { afterEach, describe, expect, test } from "vitest";
import { must } from "../../deploy/test/support/docker.ts";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
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
const recovered = ({ port }: TestProxy) => expect.poll(async () => (await send(port, envelope)).status).toBe(200);

describe("an ingest that cannot accept envelopes", () => {
  const unknown = ["http://key@nowhere.invalid/7", "https://key@ingest:9443/7"];
  // All envelopes of a test come from one client.
  const shared = useProxy({ TUNNEL_RATE_PER_CLIENT: "10000", TUNNEL_ALLOWED_DSNS: unknown.join() });
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
  test.each(unknown)("of an unknown name, or with a certificate of an unknown CA: gets nothing, %s", async (dsn) => {
    const { answer, received } = await shared.post({ path: getTunnelPath(dsn) ?? "" });
    expectDown(answer);
    expect(received).toEqual([]);
  });
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
    const mounts = changed("templates/forward-to-ingest.conf", { "proxy_read_timeout 10s": "proxy_read_timeout 1s" });
    proxy = await startProxy({ TUNNEL_RATE_PER_CLIENT: "10000" }, { mounts });
    const { port, ingest, web } = proxy;
    await Promise.all([ingest.answer({ ...ok, instead: "hang" }), web.answer(page)]);
    const many = (count: number, agent = "first") => {
      const request = { ...envelope, headers: { "user-agent": agent } };
      return Promise.all(Array.from({ length: count }, () => send(port, request)));
    };
    // Those that ask at once all fail at the address itself, further ones at the backup that it is as well.
    for (const count of [150, 150]) for (const { status } of await many(count)) expect(status).toBe(503);
    const began = second();
    for (const answer of await many(20, "last")) expectDown(answer);
    expect((await send(port, { path: "/" })).status).toBe(200);
    const probes = (await ingest.all()).filter((request) => headerOf(request, "user-agent") === "last");
    // One a second, and one at the address itself.
    expect(probes.length).toBeLessThanOrEqual(second() - began + 2);
    await ingest.answer(ok);
    await recovered(proxy);
  });
  test("that is gone, then back at another address", async () => {
    proxy = await startProxy();
    const network = await proxy.on("web", "inspect", "--format={{.HostConfig.NetworkMode}}");
    await proxy.on("ingest", "stop", "-t", "0");
    expectDown(await send(proxy.port, envelope));
    await must("network", "disconnect", network, `${network}-web`);
    await must("network", "connect", "--alias=web", "--alias=ingest", network, `${network}-web`);
    await recovered(proxy);
  });

  test("of whose addresses two answer no connection: each costs one envelope two seconds", async () => {
    proxy = await startProxy({}, { silent: ["ingest", "ingest"] });
    for (let n = 0; n < 10; n++) expect((await send(proxy.port, envelope)).status).toBe(200);
    const attempts = async () => {
      const lines = (await proxy.log()).split("\n").filter((line) => line.includes('"outcome":'));
      return lines.map((line) => JSON.parse(line).upstream_seconds.split(", "));
    };
    await expect.poll(attempts).toHaveLength(10);
    expect((await attempts()).flat().length).toBeLessThanOrEqual(12);
  });
  test("that is gone, while two addresses of the spool answer no connection and its Service does: every envelope is queued", async () => {
    const settings = { SPOOL_UPSTREAM: "spools:8082", SPOOL_FALLBACK_UPSTREAM: "spool:8082" };
    const silent = ["spools", "spools"];
    proxy = await startProxy({ ...settings, SENTRY_DSN: "http://key@ingest:9/7" }, { spool: true, silent });
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(proxy.port, envelope)));
    for (const { status } of answers) expect(status).toBe(200);
  });
});
