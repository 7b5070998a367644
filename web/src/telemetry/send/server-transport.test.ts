import { EventEmitter, once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parseSettings } from "../settings/settings";
import { type Door, doors, throughDoors } from "./server-transport";
import { flushOnShutdown } from "./shutdown";

type Received = { headers: IncomingHttpHeaders; body: Buffer };
const open: { close(): void }[] = [];
// A process is told to stop once only; these tests are one process.
beforeEach(() => Reflect.deleteProperty(globalThis, Symbol.for("culvert.stopping")));
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

/** A door that answers these statuses in turn, the last one for ever; `received` is what came through. */
async function door(statuses: number[], headers: Record<string, string> = {}, port = 0) {
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
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/reports`);
  return { url, headers: {}, received };
}

/** A door that nobody answers. */
async function closed(): Promise<Door> {
  const { url, headers } = await door([200]);
  open.pop()?.close();
  return { url, headers };
}

function send(places: Door[], message = "hello") {
  const lost: string[] = [];
  const transport = throughDoors(places)({
    recordDroppedEvent: (reason) => void lost.push(reason),
  });
  // biome-ignore lint/suspicious/noExplicitAny: an envelope of the least that the SDK takes
  const sent = transport.send([{ event_id: "e1" }, [[{ type: "event" }, { message }]]] as any);
  return { sent, lost, flush: transport.flush };
}

test("the proxy comes first, then the spool, which is told the destination", () => {
  const env = { SENTRY_DSN: "https://k:secret@sentry.example.com:9000/prefix/7", SPOOL_UPSTREAM: "spool:8082" };
  expect(doors(parseSettings({ ...env, SERVER_TUNNEL: "http://proxy:8083/envelopes" }))).toEqual([
    { url: new URL("http://proxy:8083/envelopes"), headers: {} },
    {
      url: new URL("http://spool:8082/"),
      headers: { "x-spool-destination": "https://sentry.example.com:9000/prefix/api/7/envelope/" },
    },
  ]);
  expect(doors(parseSettings(env))).toEqual([]);
});

test.each([200, 429, 413, 500])("an answer of %i is an answer: the spool is not asked", async (status) => {
  const [first, second] = [await door([status], { "retry-after": "7" }), await door([200])];
  expect(await send([first, second]).sent).toMatchObject({ statusCode: status, headers: { "retry-after": "7" } });
  expect(second.received).toEqual([]);
});

test.each([
  ["there is none", closed],
  ["it answers 502", () => door([502])],
  ["it answers 503", () => door([503])],
])("the spool has the report when the proxy can't: %s", async (_, proxy) => {
  const spool = await door([200]);
  const { sent, lost } = send([await proxy(), { ...spool, headers: { "x-spool-destination": "https://there/" } }]);
  expect((await sent).statusCode).toBe(200);
  expect(spool.received).toHaveLength(1);
  const [{ headers, body } = { headers: {}, body: Buffer.from("") }] = spool.received;
  expect(headers).toMatchObject({ "x-spool-destination": "https://there/", "content-length": String(body.length) });
  expect(body.toString()).toContain('"message":"hello"');
  expect(lost, "nothing is counted as lost").toEqual([]);
});

test("with both gone the report is held until one is back", async () => {
  const proxy = await closed();
  const { sent, flush } = send([proxy, await closed()]);
  expect(await flush(50), "it is still under way").toBe(false);
  const back = await door([200], {}, Number(proxy.url.port));
  expect((await sent).statusCode).toBe(200);
  expect(back.received).toHaveLength(1);
});

test("a large report is compressed", async () => {
  const proxy = await door([200]);
  await send([proxy], "x".repeat(40_000)).sent;
  expect(proxy.received[0]?.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(proxy.received[0]?.body ?? "").toString()).toContain("xxx");
});

/** A door that never answers; `wait` resolves once so many wait at it. */
async function hanging() {
  const asked = new EventEmitter();
  let waiting = 0;
  const server = createServer(() => asked.emit("asked", ++waiting)).listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push({ close: () => server.close().closeAllConnections() });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/reports`);
  const wait = async (count: number) => {
    while (waiting < count) await once(asked, "asked");
  };
  return { url, headers: {}, wait };
}

test("what finds thirty waiting at the proxy goes to the spool at once", async () => {
  const [proxy, spool] = [await hanging(), await door([200])];
  const transport = throughDoors([proxy, spool])({ recordDroppedEvent: () => {} });
  // biome-ignore lint/suspicious/noExplicitAny: an envelope of the least that the SDK takes
  const one = () => transport.send([{ event_id: "e1" }, [[{ type: "event" }, {}]]] as any);
  for (let n = 0; n < 30; n++) void one();
  await proxy.wait(30);
  expect((await one()).statusCode).toBe(200);
  expect(spool.received).toHaveLength(1);
});

test("a report that no door took is tried again at once when this server is told to stop", async () => {
  const spool = await door([503, 503, 503, 503, 200]);
  const { sent } = send([await closed(), spool]);
  // It rests for two seconds now.
  await vi.waitFor(() => expect(spool.received).toHaveLength(4), 10_000);
  flushOnShutdown();
  process.emit("SIGTERM");
  await vi.waitFor(() => expect(spool.received).toHaveLength(5));
  expect((await sent).statusCode).toBe(200);
});

test("what waits for the proxy when this server is told to stop does not wait on: the spool has it", async () => {
  const [proxy, spool] = [await hanging(), await door([200])];
  const { sent } = send([proxy, spool]);
  await proxy.wait(1);
  flushOnShutdown();
  process.emit("SIGTERM");
  expect((await sent).statusCode).toBe(200);
  expect(spool.received).toHaveLength(1);
});
