import { connect, type TLSSocket } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import type { TestProxy } from "./proxy.ts";
import { requestUnread } from "./unread.ts";
import { page, useProxy } from "./use-proxy.ts";
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
async function metric(name: string): Promise<number> {
  const metrics = await shared.proxy.on("proxy", "exec", "curl", "-sS", "http://127.0.0.1:8081/metrics");
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(metrics)?.[1]);
}

/** Kills every worker as the kernel does without memory; returns how many there were. */
async function killWorkers(proxy: TestProxy): Promise<number> {
  const pids = "grep -l '^nginx: worker' /proc/[0-9]*/cmdline | cut -d/ -f3";
  const kill = `${pids} | while read -r pid; do kill -9 $pid && echo killed; done`;
  return (await proxy.on("proxy", "exec", "sh", "-c", kill)).split("\n").length;
}

test("killed workers are counted and logged, and their connections are not counted as open", async () => {
  await expect.poll(() => metric("culvert_connections_active")).toBe(0);
  expect(await metric("culvert_worker_deaths_total")).toBe(0);
  await Promise.all(Array.from({ length: 20 }, openConnection));
  expect(await metric("culvert_connections_active")).toBe(20);

  const killed = await killWorkers(shared.proxy);
  expect(killed).toBeGreaterThan(0);
  await expect.poll(() => metric("culvert_worker_deaths_total"), { timeout: 60_000 }).toBe(killed);
  await expect.poll(() => metric("culvert_connections_active"), { timeout: 60_000 }).toBe(0);
  expect((await shared.proxy.on("proxy", "logs")).match(/worker process \d+ exited on signal 9/g)).toHaveLength(killed);
  expect((await send(shared.proxy.port, { path: "/" })).status).toBe(200);
});

describe("open requests of killed workers", () => {
  // Of its own: the reload after the deaths above would close connections here.
  const limited = useProxy({ OPEN_REQUESTS_TOTAL: "50" });
  test("are not counted forever", async () => {
    const { proxy } = limited;
    await proxy.web.answer({ ...page, body: "x".repeat(300_000) });
    const status = async () => (await send(proxy.port, { path: "/" })).status;
    const { statuses } = await requestUnread(proxy.port, "/", "203.0.113.1", 50);
    expect(statuses).toEqual({ 200: 50 });
    expect(await status()).toBe(503);
    await killWorkers(proxy);
    const after = () => status().catch(() => 0);
    await expect.poll(after, { timeout: 60_000 }).toBe(503);
    await expect.poll(after, { timeout: 60_000 }).toBe(200);
  });
});
