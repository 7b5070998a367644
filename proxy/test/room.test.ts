import { connect, type TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { type Edge, startEdge } from "./edge.ts";
import { send } from "./wire.ts";

let edge: Edge;
const open: TLSSocket[] = [];
const drips: NodeJS.Timeout[] = [];
afterEach(() => {
  for (const drip of drips.splice(0)) clearInterval(drip);
  for (const socket of open.splice(0)) socket.destroy();
  return edge?.stop();
});

/** Sends a report but for its last bytes, one a second: `sent` resolves when that much is, `answer` with an answer's first line. */
function stall(client: string, size: number): { sent: Promise<void>; answer: Promise<string> } {
  const socket = connect({ port: edge.port, servername: "localhost", rejectUnauthorized: false });
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

const visitors = { TRUSTED_PROXIES: "0.0.0.0/0", TUNNEL_CLIENT_IP: "withhold" };
const refused = "HTTP/1.1 503 Service Temporarily Unavailable";

async function expectPagesPass() {
  const page = await send(edge.port, { method: "POST", path: "/form", body: Buffer.alloc(1 << 20) });
  expect(page.status).toBe(200);
  expect(await edge.on("proxy", "logs")).not.toContain("203.0.113.");
}

test("a page's body that finds /tmp full is a 500 in the access log, and no line names its client", async () => {
  edge = await startEdge(visitors);
  await edge.on("proxy", "exec", "sh", "-c", "dd if=/dev/zero of=/tmp/fill bs=1M count=500 2>/dev/null || true");
  const headers = { "x-forwarded-for": "203.0.113.9" };
  const answer = await send(edge.port, { method: "POST", path: "/form", headers, body: Buffer.alloc(900_000) });
  expect(answer.status).toBe(500);
  const logs = () => edge.on("proxy", "logs");
  await expect.poll(logs, { timeout: 30_000 }).toMatch(/"path":"\/form","status":500/);
  expect(await logs()).not.toMatch(/203\.0\.113\.|client: /);
});

test("stalled reports of many visitors leave pages their room, and what there is none for the browser keeps", async () => {
  edge = await startEdge(visitors);
  let visitor = 0;
  const next = (size: number) => stall(`203.0.113.${++visitor}`, size).sent;
  await Promise.all(Array.from({ length: 6 }, () => next(19 << 20)));
  // A whole one, since there may be an answer after the last byte was sent.
  const report = { method: "POST", path: "/monitoring", body: Buffer.alloc(1 << 20) };
  let status = 200;
  for (; status === 200; { status } = await send(edge.port, report)) await next(1 << 20);
  expect(status).toBe(503);
  // Said of the edge, not of the ingest.
  const metrics = () => edge.on("proxy", "exec", "curl", "-sS", "http://127.0.0.1:8081/metrics");
  await expect.poll(metrics).toMatch(/^culvert_tunnel_envelopes_total\{outcome="rejected",reason="capacity"\} [1-9]/m);
  await expectPagesPass();
});

test.each([true, false])(
  "20 stalled reports of one visitor leave other visitors theirs; with a spool: %s",
  async (spool) => {
    edge = await startEdge(visitors, { spool });
    const answers: string[] = [];
    for (let n = 0; n < 20; n++) void stall("203.0.113.1", 19 << 20).answer.then((line) => answers.push(line));
    await expect.poll(() => answers, { timeout: 30_000 }).toEqual(Array(16).fill(refused));
    const other = { "x-forwarded-for": "198.51.100.1" };
    const report = { method: "POST", path: "/monitoring", body: Buffer.alloc(100_000), headers: other };
    expect((await send(edge.port, report)).status).toBe(200);
    await expectPagesPass();
    expect(answers).toHaveLength(16);
  },
);
