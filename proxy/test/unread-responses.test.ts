import { type ClientHttp2Session, connect } from "node:http2";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startProxy, type TestProxy } from "./proxy.ts";
import { send } from "./wire.ts";

const connections = 110;
const streams = 128; // Nginx's own bound for one connection
const file = "/_next/static/chunks/main-0123456789abcdef.js";

let proxy: TestProxy;
const sessions: ClientHttp2Session[] = [];
beforeAll(async () => {
  proxy = await startProxy({}, { memory: true });
  await proxy.web.answer({
    status: 200,
    headers: { "content-type": "application/javascript", "cache-control": "public, max-age=31536000, immutable" },
    body: "x".repeat(400_000),
  });
});
afterAll(async () => {
  for (const session of sessions) session.destroy();
  await proxy?.stop();
});

/** A client that asks for the file on every stream of a connection and reads nothing; resolves when all have their headers. */
function askWithoutReading(): Promise<void> {
  return new Promise((resolve, reject) => {
    const session = connect(`https://127.0.0.1:${proxy.port}`, {
      ...{ servername: "localhost", rejectUnauthorized: false },
      settings: { initialWindowSize: 0 },
    });
    sessions.push(session);
    let answered = 0;
    session.on("error", reject);
    session.on("close", () => reject(new Error("the connection was closed")));
    // Nginx knows how little may be sent once it has the client's settings.
    session.on("localSettings", () => {
      for (let i = 0; i < streams; i++) {
        const stream = session.request({ ":path": file, ":authority": `localhost:${proxy.port}` });
        stream.on("error", reject);
        stream.on("response", () => {
          if (++answered === streams) resolve();
        });
      }
    });
  });
}

test("14,080 unread responses of a stored file crash no worker and block no other client", async () => {
  expect((await send(proxy.port, { path: file })).status).toBe(200);
  await Promise.all(Array.from({ length: connections }, askWithoutReading));
  expect((await send(proxy.port, { path: "/" })).status).toBe(200);
  expect(await proxy.on("proxy", "logs")).not.toMatch(/exited on signal/);
}, 300_000);
