import { EventEmitter, once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parseSettings } from "../settings/settings.js";
import { type Endpoint, serverEndpoints } from "./endpoints.js";
import { fallbackTransport } from "./server-transport.js";
import { flushOnShutdown } from "./shutdown.js";

type Received = { headers: IncomingHttpHeaders; body: Buffer };
const open: { close(): void }[] = [];
// A process is told to stop once only; these tests are one process.
beforeEach(() => Reflect.deleteProperty(globalThis, Symbol.for("culvert.stopping")));
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

/** An endpoint that responds with these statuses in order and then repeats the last; `received` is what it was sent. */
async function endpoint(statuses: number[], headers: Record<string, string> = {}, port = 0) {
  const received: Received[] = [];
  const answer: RequestListener = async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    received.push({ headers: request.headers, body: Buffer.concat(pieces) });
    response.writeHead(statuses.length > 1 ? (statuses.shift() ?? 0) : (statuses[0] ?? 0), headers).end("{}");
  };
  const server = createServer(answer);
  open.push({ close: () => server.close().closeAllConnections() });
  await new Promise<void>((up) => server.listen(port, "127.0.0.1", up));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/envelopes`);
  return { url, headers: {}, received };
}

/** An endpoint where nothing listens. */
async function closed(): Promise<Endpoint> {
  const { url, headers } = await endpoint([200]);
  open.pop()?.close();
  return { url, headers };
}

function send(endpoints: Endpoint[], message = "hello") {
  const lost: string[] = [];
  const transport = fallbackTransport(endpoints)({
    recordDroppedEvent: (reason) => void lost.push(reason),
  });
  // biome-ignore lint/suspicious/noExplicitAny: an envelope of the least that the SDK takes
  const sent = transport.send([{ event_id: "e1" }, [[{ type: "event" }, { message }]]] as any);
  return { sent, lost, flush: transport.flush };
}

test("the proxy comes first, then the spool, which is sent the destination", () => {
  const env = { SENTRY_DSN: "https://k:secret@sentry.example.com:9000/prefix/7", SPOOL_UPSTREAM: "spool:8082" };
  expect(serverEndpoints(parseSettings({ ...env, SERVER_TUNNEL: "http://proxy:8083/envelopes" }))).toEqual([
    { url: new URL("http://proxy:8083/envelopes"), headers: {} },
    {
      url: new URL("http://spool:8082/"),
      headers: { "x-spool-destination": "https://sentry.example.com:9000/prefix/api/7/envelope/" },
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
  ["it answers 502", () => endpoint([502])],
  ["it answers 503", () => endpoint([503])],
])("the spool gets the envelope when the proxy is unavailable: %s", async (_, proxy) => {
  const spool = await endpoint([200]);
  const { sent, lost } = send([await proxy(), { ...spool, headers: { "x-spool-destination": "https://there/" } }]);
  expect((await sent).statusCode).toBe(200);
  expect(spool.received).toHaveLength(1);
  const [{ headers, body } = { headers: {}, body: Buffer.from("") }] = spool.received;
  expect(headers).toMatchObject({ "x-spool-destination": "https://there/", "content-length": String(body.length) });
  expect(body.toString()).toContain('"message":"hello"');
  expect(lost, "nothing is counted as lost").toEqual([]);
});

test("without any endpoint the envelope is retried until one responds", async () => {
  const proxy = await closed();
  const { sent, flush } = send([proxy, await closed()]);
  expect(await flush(50), "it is still in flight").toBe(false);
  const back = await endpoint([200], {}, Number(proxy.url.port));
  expect((await sent).statusCode).toBe(200);
  expect(back.received).toHaveLength(1);
});

test("a large envelope is compressed", async () => {
  const proxy = await endpoint([200]);
  await send([proxy], "x".repeat(40_000)).sent;
  expect(proxy.received[0]?.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(proxy.received[0]?.body ?? "").toString()).toContain("xxx");
});

/** An endpoint that never responds; `wait` resolves once this many requests are pending. */
async function hanging() {
  const asked = new EventEmitter();
  let waiting = 0;
  const server = createServer(() => asked.emit("asked", ++waiting)).listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push({ close: () => server.close().closeAllConnections() });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/envelopes`);
  const wait = async (count: number) => {
    while (waiting < count) await once(asked, "asked");
  };
  return { url, headers: {}, wait };
}

test("with thirty requests pending at the proxy, the next envelope goes to the spool immediately", async () => {
  const [proxy, spool] = [await hanging(), await endpoint([200])];
  const transport = fallbackTransport([proxy, spool])({ recordDroppedEvent: () => {} });
  // biome-ignore lint/suspicious/noExplicitAny: an envelope of the least that the SDK takes
  const one = () => transport.send([{ event_id: "e1" }, [[{ type: "event" }, {}]]] as any);
  for (let n = 0; n < 30; n++) void one();
  await proxy.wait(30);
  expect((await one()).statusCode).toBe(200);
  expect(spool.received).toHaveLength(1);
});

test("an envelope in backoff is retried immediately when this server is told to stop", async () => {
  const spool = await endpoint([503, 503, 503, 503, 200]);
  const { sent } = send([await closed(), spool]);
  // Its backoff is two seconds now.
  await vi.waitFor(() => expect(spool.received).toHaveLength(4), 10_000);
  flushOnShutdown();
  process.emit("SIGTERM");
  await vi.waitFor(() => expect(spool.received).toHaveLength(5));
  expect((await sent).statusCode).toBe(200);
});

test("a request that waits for the proxy when this server is told to stop goes to the spool", async () => {
  const [proxy, spool] = [await hanging(), await endpoint([200])];
  const { sent } = send([proxy, spool]);
  await proxy.wait(1);
  flushOnShutdown();
  process.emit("SIGTERM");
  expect((await sent).statusCode).toBe(200);
  expect(spool.received).toHaveLength(1);
});
