import { connect, type TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { startProxy, type TestProxy } from "./proxy.ts";
import { send } from "./wire.ts";

let proxy: TestProxy;
const open: TLSSocket[] = [];
const drips: NodeJS.Timeout[] = [];
afterEach(() => {
  for (const drip of drips.splice(0)) clearInterval(drip);
  for (const socket of open.splice(0)) socket.destroy();
  return proxy?.stop();
});

/** Sends an envelope except its last bytes, then one byte a second: `sent` resolves when it waits, `answer` with the response's status line. */
function stall(client: string, size: number): { sent: Promise<void>; answer: Promise<string> } {
  const socket = connect({ port: proxy.port, servername: "localhost", rejectUnauthorized: false });
  open.push(socket);
  const head = ["POST /monitoring HTTP/1.1", "Host: localhost", `X-Forwarded-For: ${client}`];
  socket.write(`${[...head, `Content-Length: ${size + 100}`].join("\r\n")}\r\n\r\n`);
  const answer = new Promise<string>((resolve) => {
    socket.on("data", (bytes) => resolve(bytes.toString().split("\r\n", 1)[0] ?? ""));
    socket.on("error", () => resolve("cut"));
  });
  const sent = new Promise<void>((resolve) => {
    socket.on("close", () => resolve());
    socket.write(Buffer.alloc(size), () => {
      drips.push(setInterval(() => socket.writable && socket.write("."), 1_000));
      resolve();
    });
  });
  return { sent, answer };
}

const settings = { TRUSTED_PROXIES: "0.0.0.0/0", TUNNEL_CLIENT_IP: "withhold" };
const unavailable = "HTTP/1.1 503 Service Temporarily Unavailable";

async function expectPagesPass() {
  const page = await send(proxy.port, { method: "POST", path: "/form", body: Buffer.alloc(1 << 20) });
  expect(page.status).toBe(200);
  expect(await proxy.on("proxy", "logs")).not.toContain("203.0.113.");
}

test("a page's body that does not fit into a full /tmp is a 500 in the access log, and no line names the client", async () => {
  proxy = await startProxy(settings);
  await proxy.on("proxy", "exec", "sh", "-c", "dd if=/dev/zero of=/tmp/fill bs=1M count=500 2>/dev/null || true");
  const headers = { "x-forwarded-for": "203.0.113.9" };
  const answer = await send(proxy.port, { method: "POST", path: "/form", headers, body: Buffer.alloc(900_000) });
  expect(answer.status).toBe(500);
  const logs = () => proxy.on("proxy", "logs");
  await expect.poll(logs).toMatch(/"path":"\/form","status":500/);
  expect(await logs()).not.toMatch(/203\.0\.113\.|client: /);
});

test("stalled envelopes of many clients leave pages their capacity, and browsers queue what exceeds it", async () => {
  proxy = await startProxy(settings);
  let client = 0;
  const next = (size: number) => stall(`203.0.113.${++client}`, size).sent;
  await Promise.all(Array.from({ length: 6 }, () => next(19 << 20)));
  // A whole one, since there may be an answer after the last byte was sent.
  const envelope = { method: "POST", path: "/monitoring", body: Buffer.alloc(1 << 20) };
  let status = 200;
  for (; status === 200; { status } = await send(proxy.port, envelope)) await next(1 << 20);
  expect(status).toBe(503);
  // Counted for the proxy, not for the ingest.
  const metrics = () => proxy.internal("/metrics");
  await expect.poll(metrics).toMatch(/^culvert_tunnel_envelopes_total\{outcome="rejected",reason="capacity"\} [1-9]/m);
  await expectPagesPass();
});

test.each([true, false])(
  "20 stalled envelopes of one client leave other clients their capacity; with a spool: %s",
  async (spool) => {
    proxy = await startProxy(settings, { spool });
    const answers: string[] = [];
    for (let n = 0; n < 20; n++) void stall("203.0.113.1", 19 << 20).answer.then((line) => answers.push(line));
    await expect.poll(() => answers).toEqual(Array(16).fill(unavailable));
    const other = { "x-forwarded-for": "198.51.100.1" };
    const envelope = { method: "POST", path: "/monitoring", body: Buffer.alloc(100_000), headers: other };
    expect((await send(proxy.port, envelope)).status).toBe(200);
    await expectPagesPass();
    expect(answers).toHaveLength(16);
  },
);
