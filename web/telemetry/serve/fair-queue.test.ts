import { AsyncLocalStorage } from "node:async_hooks";
import { channel } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, get, type Server } from "node:http";
import { beforeAll, expect, test, vi } from "vitest";
import { listen } from "../test/listen.js";
import { queueFairly } from "./fair-queue.js";

let server: Server;
const begun: unknown[] = [];
const context = new AsyncLocalStorage<string>();
beforeAll(() => {
  for (let n = 0; n < 2; n++) queueFairly();
  server = createServer((_, response) => begun.push((response as unknown as { name: string }).name));
});

function arrive(...requests: string[]) {
  return requests.map((request) => {
    const [client, name = client] = request.split(" ");
    const headers = client === "direct" ? {} : { "x-forwarded-for": client };
    const response = { name, destroyed: false };
    channel("http.server.request.start").publish({ server });
    server.emit("request", { headers }, response);
    return response;
  });
}
async function order(count: number): Promise<unknown[]> {
  await expect.poll(() => begun.length).toBeGreaterThanOrEqual(count);
  await new Promise((resolve) => setImmediate(resolve));
  return begun.splice(0);
}
const flood = Array<string>(20).fill("203.0.113.1");

test("connections are accepted before the next request begins", async () => {
  const handled: unknown[] = [];
  const { url } = await listen(({ headers }, response) => {
    handled.push(headers["x-forwarded-for"]);
    response.end();
  });
  const ask = (client: string) => once(get(url, { agent: false, headers: { "x-forwarded-for": client } }), "response");
  await ask("203.0.113.1");
  await Promise.all([...flood, "198.51.100.1"].map(ask));
  expect(handled.indexOf("198.51.100.1")).toBeLessThan(5);
});

// A client is an IPv4 address or an IPv6 /48, whose zeros may be folded.
test.each(["203.0.113.1", "2001:db8:1:N::1", "::N", "2001::N:0:1", "2001:db8::N"])(
  "other clients' requests pass those of a flood of %s",
  async (client) => {
    const others = ["2001:db8:2::1", "198.51.100.1", "::ffff:198.51.100.1", "::ffff:198.51.100.2"];
    arrive(...flood.map((_, n) => client.replace("N", `${n + 1}`)), ...others);
    const all = await order(24);
    for (const other of others) expect(all.indexOf(other)).toBeLessThan(6);
    expect(all).toHaveLength(24);
  },
);

test("a request that did not come through the proxy begins at once, as do health checks", async () => {
  arrive(...flood, "direct");
  expect(begun).toEqual(["direct"]);
  await order(21);
});

test("a request whose client has gone never begins", async () => {
  const [, gone] = arrive("203.0.113.1", "203.0.113.1 gone", "203.0.113.1 last");
  Object.assign(gone ?? {}, { destroyed: true });
  expect(await order(2)).toEqual(["203.0.113.1", "last"]);
});

test("when the oldest request is late, the newest begins first, each client's in turn", async () => {
  const now = vi.spyOn(Date, "now");
  now.mockReturnValue(0);
  arrive("a a1", "a a2", "a a3", "b b1", "b b2", "c c1");
  now.mockReturnValue(1_001);
  arrive("a a4");
  expect(await order(7)).toEqual(["c1", "b2", "a4", "b1", "a3", "a2", "a1"]);
  now.mockRestore();
});

test("each request begins in its own asynchronous context", async () => {
  const seen: unknown[] = [];
  const otherServer = createServer(() => seen.push(context.getStore()));
  for (const name of ["a", "b", "c"])
    context.run(name, () => {
      channel("http.server.request.start").publish({ server: otherServer });
      otherServer.emit("request", { headers: { "x-forwarded-for": "203.0.113.1" } }, { destroyed: false });
    });
  await expect.poll(() => seen).toEqual(["a", "b", "c"]);
});
