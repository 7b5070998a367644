import { connect, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TestProxy } from "./proxy.ts";
import { page, useProxy } from "./use-proxy.ts";
import { send, sendH2 } from "./wire.ts";

const size = 900_000;
const trusted = { TRUSTED_PROXIES: "0.0.0.0/0" };
const shared = useProxy(trusted);
beforeEach(() => shared.proxy.web.answer(page));
let holding = new AbortController();
const open = new Set<TLSSocket>();
afterEach(() => {
  holding.abort();
  holding = new AbortController();
  for (const socket of open) socket.destroy();
  open.clear();
});

/**
 * Sends a body, its last bytes one every two seconds, and resolves when the others are written. Begins again when the proxy closes the
 * connection: on a busy machine this process may send nothing for ten seconds.
 */
async function stall(proxy: TestProxy, client: string): Promise<void> {
  const { signal } = holding;
  const options = { host: "127.0.0.1", port: proxy.port, servername: "localhost", rejectUnauthorized: false };
  const head = [
    "POST /form HTTP/1.1",
    "Host: localhost",
    `X-Forwarded-For: ${client}`,
    `Content-Length: ${size + 1_000}`,
  ];
  const begin = (written: () => void) => {
    const socket = connect(options, () => {
      socket.write(`${head.join("\r\n")}\r\n\r\n`);
      socket.write(Buffer.alloc(size), (error) => error || written());
    });
    const more = setInterval(() => socket.write("x"), 2_000);
    open.add(socket.on("error", () => undefined));
    socket.on("close", () => {
      clearInterval(more);
      open.delete(socket);
      if (!signal.aborted) begin(written);
    });
  };
  await new Promise<void>(begin);
}

/** Stalls a body for each of these clients, ten at a time. */
async function stallAll(proxy: TestProxy, clients: string[]): Promise<void> {
  const left = clients.values();
  const worker = async () => {
    for (const client of left) await stall(proxy, client);
  };
  await Promise.all(Array.from({ length: 10 }, worker));
}

/** Megabytes in the folder where bodies wait: their files have no name. */
async function used(proxy: TestProxy): Promise<number> {
  const output = await proxy.on("proxy", "exec", "df", "--block-size=1", "--output=used", "/tmp");
  return Number(output.split("\n").at(-1)) / 1e6;
}
const post = ({ port }: TestProxy, client: string) =>
  send(port, {
    method: "POST",
    path: "/form",
    headers: { "x-forwarded-for": client },
    body: Buffer.alloc(size),
  });

describe("stalled bodies below 1 MB", () => {
  test("of one client fill no memory, and its own and others' are accepted", async () => {
    await stallAll(shared.proxy, Array(150).fill("203.0.113.1"));
    await expect.poll(() => used(shared.proxy), { timeout: 60_000 }).toBeGreaterThan(60);
    expect(await used(shared.proxy)).toBeLessThan(100);
    expect((await post(shared.proxy, "203.0.113.1")).status).toBe(200);
    expect((await post(shared.proxy, "198.51.100.1")).status).toBe(200);
  });
});

describe("stalled bodies below 1 MB, with OPEN_REQUESTS_PER_CLIENT", () => {
  const limited = useProxy({ ...trusted, OPEN_REQUESTS_PER_CLIENT: "10" });

  test("130 of 13 clients do not fill it, others are accepted, and streamed ones count", async () => {
    const { proxy } = limited;
    await proxy.web.answer(page);
    await stallAll(
      proxy,
      Array.from({ length: 130 }, (_, n) => `203.0.113.${Math.floor(n / 10)}`),
    );
    await expect.poll(() => used(proxy), { timeout: 60_000 }).toBeGreaterThan(60);
    expect(await used(proxy)).toBeLessThan(100);
    expect((await post(proxy, "198.51.100.1")).status).toBe(200);
    // The last bodies have been written, but Nginx may not have read their headers yet.
    for (const client of ["203.0.113.12", "203.0.113.0"])
      await expect.poll(async () => (await post(proxy, client)).status).toBe(429);
  });
});

test.each(["/page", "/_next/static/chunks/main-0123456789abcdef.js", "/_next/image?url=%2Fa.png&w=64&q=75"])(
  "a GET of %s over HTTP/2 with a body of unknown length is rejected",
  async (path) => {
    const body = Buffer.alloc(500_000);
    expect((await sendH2(shared.proxy.port, { path, body })).status).toBe(413);
  },
);
