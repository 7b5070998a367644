import type { IncomingHttpHeaders, RequestListener, Server } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parseSettings } from "../settings/settings.js";
import { listen } from "../test/listen.js";
import { type Endpoint, serverEndpoints } from "./endpoints.js";
import { fallbackTransport } from "./server-transport.js";
import { markStopping } from "./stopping.js";

type Received = { headers: IncomingHttpHeaders; body: Buffer };
const open: Server[] = [];
// A process is told to stop once only; these tests are one process.
beforeEach(() => {
  vi.clearAllMocks();
  Reflect.deleteProperty(globalThis, Symbol.for("culvert.stopping"));
});
afterEach(() => {
  for (const server of open.splice(0)) server.close().closeAllConnections();
});

/** An endpoint that responds with these statuses in order, then with the last; never without any. */
async function endpoint(statuses: number[], headers: Record<string, string> = {}, port = 0, host = "127.0.0.1") {
  const received: Received[] = [];
  const answer: RequestListener = async (request, response) => {
    received.push({ headers: request.headers, body: await buffer(request) });
    const [status] = statuses.length > 1 ? statuses.splice(0, 1) : statuses;
    if (status) response.writeHead(status, headers).end("{}");
  };
  const { server, url } = await listen(answer, port, host);
  open.push(server);
  return { url: new URL("/envelopes", url), headers: {}, received };
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

test.each([429, 413, 500])("a response of %i is final: the spool is not tried", async (status) => {
  const [first, second] = [await endpoint([status], { "retry-after": "7" }), await endpoint([200])];
  expect(await send([first, second]).sent).toMatchObject({ statusCode: status, headers: { "retry-after": "7" } });
  expect(second.received).toEqual([]);
});

test("the spool gets the envelope when the proxy answers 503", async () => {
  const spool = await endpoint([200]);
  const proxy = await endpoint([503]);
  const { sent, lost } = send([proxy, { ...spool, headers: { "x-spool-destination": "https://there/" } }]);
  expect((await sent).statusCode).toBe(200);
  const [{ headers, body }] = spool.received as [Received];
  expect(headers).toMatchObject({ "x-spool-destination": "https://there/", "content-length": String(body.length) });
  expect(body.toString()).toContain('"message":"hello"');
  expect(lost, "nothing is counted as lost").toEqual([]);
});

const all = vi.hoisted(() => ["127.0.0.1", "127.0.0.2"]);
vi.mock("node:timers/promises", async (original) => {
  const { setTimeout } = await original<typeof import("node:timers/promises")>();
  return { setTimeout: vi.fn(setTimeout) };
});
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
  // Without its signal, for ever.
  vi.mocked(sleep).mockImplementationOnce(
    (_ms, _value, options) => new Promise((resolve) => options?.signal?.addEventListener("abort", resolve)),
  );
  const { sent } = send([await closed(), await endpoint([503, 200])]);
  await expect.poll(() => vi.mocked(sleep).mock.calls).toHaveLength(1);
  markStopping();
  expect((await sent).statusCode).toBe(200);
});

test("a request that waits for the proxy when this server is told to stop goes to the spool", async () => {
  const [proxy, spool] = [await endpoint([]), await endpoint([200])];
  const { sent } = send([proxy, spool]);
  await expect.poll(() => proxy.received).toHaveLength(1);
  markStopping();
  expect((await sent).statusCode).toBe(200);
  expect(spool.received).toHaveLength(1);
});
