import { EventEmitter, once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { type Door, doors, throughDoors } from "./doors";
import { parseSettings } from "./settings";
import { flushOnShutdown } from "./shutdown";

type Received = { headers: IncomingHttpHeaders; body: Buffer };
const open: { close(): void }[] = [];
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
  expect(doors(parseSettings({ ...env, SERVER_TUNNEL: "http://proxy:8083/reports" }))).toEqual([
    { url: new URL("http://proxy:8083/reports"), headers: {} },
    {
      url: new URL("http://spool:8082/"),
      headers: { "x-spool-to": "https://sentry.example.com:9000/prefix/api/7/envelope/" },
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
  const { sent, lost } = send([await proxy(), { ...spool, headers: { "x-spool-to": "https://there/" } }]);
  expect((await sent).statusCode).toBe(200);
  expect(spool.received).toHaveLength(1);
  const [{ headers, body } = { headers: {}, body: Buffer.from("") }] = spool.received;
  expect(headers).toMatchObject({ "x-spool-to": "https://there/", "content-length": String(body.length) });
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

test("what waits for the proxy when this server is told to stop does not wait on: the spool has it", async () => {
  const asked = new EventEmitter();
  const hanging = createServer(() => asked.emit("asked")).listen(0, "127.0.0.1");
  await once(hanging, "listening");
  open.push({ close: () => hanging.close().closeAllConnections() });
  const spool = await door([200]);
  const url = new URL(`http://127.0.0.1:${(hanging.address() as AddressInfo).port}/reports`);
  const { sent } = send([{ url, headers: {} }, spool]);
  await once(asked, "asked");
  flushOnShutdown();
  process.emit("SIGTERM");
  expect((await sent).statusCode).toBe(200);
  expect(spool.received).toHaveLength(1);
});
