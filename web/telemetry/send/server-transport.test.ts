import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parseSettings } from "../settings/settings.js";
import { type Endpoint, serverEndpoints } from "./endpoints.js";
import { fallbackTransport } from "./server-transport.js";
import { markStopping } from "./stopping.js";

type Received = { headers: IncomingHttpHeaders; body: Buffer };
const open: Server[] = [];
// A process is told to stop once only; these tests are one process.
beforeEach(() => Reflect.deleteProperty(globalThis, Symbol.for("culvert.stopping")));
afterEach(() => {
  for (const server of open.splice(0)) server.close().closeAllConnections();
});

/** An endpoint that responds with these statuses in order, then with the last; never without any. */
async function endpoint(statuses: number[], headers: Record<string, string> = {}, port = 0, host = "127.0.0.1") {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await buffer(request) });
    const [status] = statuses.length > 1 ? statuses.splice(0, 1) : statuses;
    if (status) response.writeHead(status, headers).end("{}");
  });
  open.push(server);
  await once(server.listen(port, host), "listening");
  const url = new URL(`http://${host}:${(server.address() as AddressInfo).port}/envelopes`);
  return { url, headers: {}, received };
}

async function closed() {
  const free = await endpoint([200]);
  open.pop()?.close();
  return free;
}

function send(endpoints: Endpoint[]) {
  const lost: string[] = [];
  const transport = fallbackTransport(endpoints)({ recordDroppedEvent: (reason) => void lost.push(reason) });
  // biome-ignore lint/suspicious/noExplicitAny: an envelope of the least that the SDK takes
  const envelope = [{ event_id: "e1" }, [[{ type: "event" }, { message: "hello" }]]] as any;
  return { sent: transport.send(envelope), lost, flush: transport.flush };
}

test("the proxy comes first, then the spool, which is sent the destination", () => {
  const env = { SENTRY_DSN: "https://k:secret@sentry.example.com:9000/prefix/7", SPOOL_UPSTREAM: "spool:8082" };
  expect(serverEndpoints(parseSettings({ ...env, SERVER_TUNNEL: "http://proxy:8083/envelopes" }))).toEqual([
    { url: new URL("http://proxy:8083/envelopes"), headers: {} },
    {
      url: new URL("http://spool:8082/"),
      headers: { "x-spool-destination": "https://sentry.example.com:9000/prefix/api/7/envelope/" },
      hasReplicas: true,
    },
  ]);
  expect(serverEndpoints(parseSettings(env))).toEqual([]);
});

test.each([200, 429, 413, 500])("a response of %i is final: the spool is not tried", async (status) => {
  const [first, second] = [await endpoint([status], { "retry-after": "7" }), await endpoint([200])];
  expect(await send([first, second]).sent).toMatchObject({ statusCode: status, headers: { "retry-after": "7" } });
  expect(second.received).toEqual([]);
});

test.each([
  ["nothing listens", closed],
  ["it answers 503", () => endpoint([503])],
])("the spool gets the envelope when the proxy is unavailable: %s", async (_, proxy) => {
  const spool = await endpoint([200]);
  const { sent, lost } = send([await proxy(), { ...spool, headers: { "x-spool-destination": "https://there/" } }]);
  expect((await sent).statusCode).toBe(200);
  const [{ headers, body }] = spool.received as [Received];
  expect(headers).toMatchObject({ "x-spool-destination": "https://there/", "content-length": String(body.length) });
  expect(body.toString()).toContain('"message":"hello"');
  expect(lost, "nothing is counted as lost").toEqual([]);
});

const all = vi.hoisted(() => ["127.0.0.1", "127.0.0.2"]);
vi.mock("node:dns/promises", () => ({ lookup: async () => all.map((address) => ({ address, family: 4 })) }));

test.each<[fault: string, statuses: number[] | undefined]>([
  ["is full", [503]],
  ["hangs", []],
  ["is gone", undefined],
])("a replica of the spool that %s: the next one gets the envelope", async (_, statuses) => {
  const second = await endpoint([200], {}, 0, "127.0.0.2");
  const port = Number(second.url.port);
  const first = statuses && (await endpoint(statuses, {}, port));
  const spool = { url: new URL(`http://spool:${port}/`), headers: {}, hasReplicas: true };
  expect((await send([await closed(), spool]).sent).statusCode).toBe(200);
  expect([first?.received.length, second.received.length]).toEqual([first && 1, 1]);
});

test("without any endpoint the envelope is retried until one responds", async () => {
  const proxy = await closed();
  const { sent, flush } = send([proxy, await closed()]);
  expect(await flush(50), "it is still in flight").toBe(false);
  const back = await endpoint([200], {}, Number(proxy.url.port));
  expect((await sent).statusCode).toBe(200);
  expect(back.received).toHaveLength(1);
});

test("an envelope in backoff is retried immediately when this server is told to stop", async () => {
  const spool = await endpoint([503, 503, 503, 503, 200]);
  const { sent } = send([await closed(), spool]);
  await vi.waitFor(() => expect(spool.received).toHaveLength(4), 10_000);
  markStopping();
  await vi.waitFor(() => expect(spool.received).toHaveLength(5));
  expect((await sent).statusCode).toBe(200);
});

test("a request that waits for the proxy when this server is told to stop goes to the spool", async () => {
  const [proxy, spool] = [await endpoint([]), await endpoint([200])];
  const { sent } = send([proxy, spool]);
  await vi.waitFor(() => expect(proxy.received).toHaveLength(1));
  markStopping();
  expect((await sent).statusCode).toBe(200);
  expect(spool.received).toHaveLength(1);
});
