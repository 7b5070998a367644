import { connect, type TLSSocket } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { killWorkers, type TestProxy } from "./proxy.ts";
import { requestUnread } from "./unread.ts";
import { page as html, useProxy } from "./use-proxy.ts";
import { send } from "./wire.ts";

const shared = useProxy();
const open: TLSSocket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

/** A connection on which nothing is sent after the handshake. */
const openConnection = () =>
  new Promise<void>((resolve, reject) => {
    const options = { host: "127.0.0.1", port: shared.proxy.port, servername: "localhost", rejectUnauthorized: false };
    const socket = connect(options, resolve);
    open.push(socket.on("error", reject));
  });

/** The value of one metric. */
async function metric(proxy: TestProxy, name: string): Promise<number> {
  const metrics = await proxy.internal("/metrics");
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(metrics)?.[1]);
}

test("killed workers are counted and logged, and their connections are not counted as open", async () => {
  await expect.poll(() => metric(shared.proxy, "culvert_connections_active")).toBe(0);
  expect(await metric(shared.proxy, "culvert_worker_deaths_total")).toBe(0);
  await Promise.all(Array.from({ length: 20 }, openConnection));
  expect(await metric(shared.proxy, "culvert_connections_active")).toBe(20);

  const killed = await killWorkers(shared.proxy);
  expect(killed).toBeGreaterThan(0);
  await expect.poll(() => metric(shared.proxy, "culvert_worker_deaths_total"), { timeout: 60_000 }).toBe(killed);
  await expect.poll(() => metric(shared.proxy, "culvert_connections_active"), { timeout: 60_000 }).toBe(0);
  expect((await shared.proxy.on("proxy", "logs")).match(/worker process \d+ exited on signal 9/g)).toHaveLength(killed);
  expect((await send(shared.proxy.port, { path: "/" })).status).toBe(200);
});

describe("what killed workers had open", () => {
  // Of its own: the reload after the deaths above would close connections here.
  const limited = useProxy({ OPEN_REQUESTS_TOTAL: "50" });

  /** Posts an envelope of 1 MB except for its last bytes. Four at a time are accepted of one client; the other calls are rejected. */
  const stallEnvelope = () =>
    new Promise<void>((resolve) => {
      const options = {
        host: "127.0.0.1",
        port: limited.proxy.port,
        servername: "localhost",
        rejectUnauthorized: false,
      };
      const head = ["POST /monitoring HTTP/1.1", "Host: localhost", "Content-Length: 1000100"];
      const socket = connect(options, () => {
        socket.write(`${head.join("\r\n")}\r\n\r\n`);
        socket.write(Buffer.alloc(1_000_000), () => resolve());
      });
      const more = setInterval(() => socket.write("."), 1_000);
      open.push(socket.on("error", () => undefined).on("close", () => clearInterval(more)));
    });
  const page = () => send(limited.proxy.port, { path: "/" }).then(({ status }) => status);
  const largeEnvelope = () =>
    send(limited.proxy.port, { method: "POST", path: "/monitoring", body: Buffer.alloc(1_000_000) }).then(
      ({ status }) => status,
    );
  const becomes = (status: () => Promise<number>, expected: number) =>
    expect.poll(() => status().catch(() => 0), { timeout: 60_000 }).toBe(expected);
  const fill = async () => {
    expect((await requestUnread(limited.proxy.port, "/", "203.0.113.1", 50)).statuses).toEqual({ 200: 50 });
    await Promise.all(Array.from({ length: 8 }, stallEnvelope));
    await becomes(page, 503);
    await becomes(largeEnvelope, 503);
  };

  test("is not counted forever, after a second death neither", async () => {
    const { proxy } = limited;
    await proxy.web.answer({ ...html, body: "x".repeat(300_000) });
    await fill();
    await killWorkers(proxy);
    await becomes(page, 200);
    await becomes(largeEnvelope, 200);

    await fill();
    const known = await metric(proxy, "culvert_worker_deaths_total");
    const killed = await killWorkers(proxy);
    await expect.poll(() => metric(proxy, "culvert_worker_deaths_total"), { timeout: 60_000 }).toBe(known + killed);
    // Not at once: the old workers' requests take memory as well.
    const reloads = async () => (await proxy.on("proxy", "logs")).match(/a worker was killed: reloading/g)?.length;
    expect(await reloads()).toBe(1);
    const pause = "grep -lzx '1[8]0' /proc/[0-9]*/cmdline | cut -d/ -f3";
    await proxy.on("proxy", "exec", "sh", "-c", `kill $(${pause})`);
    await becomes(page, 200);
    await becomes(largeEnvelope, 200);
    expect(await reloads()).toBe(2);
  });
});
