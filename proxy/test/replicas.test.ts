import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startProxy, type TestProxy } from "./proxy.ts";
import { send } from "./wire.ts";

const fine = { status: 200, headers: {}, body: "hello" };

let proxy: TestProxy;
beforeAll(async () => {
  proxy = await startProxy({}, { twoReplicas: true });
});
afterAll(() => proxy?.stop());
beforeEach(async () => {
  await proxy.web.answer(fine);
  await proxy.web2?.answer(fine);
  // A replica that failed is left alone for a while: wait until it is asked again.
  const mark = await proxy.web.count();
  while ((await proxy.web.count()) === mark) await send(proxy.port, { path: "/" });
});

const counts = async () => [await proxy.web.count(), (await proxy.web2?.count()) ?? 0] as const;
const times = (count: number, request: Parameters<typeof send>[1]) =>
  Promise.all(Array.from({ length: count }, () => send(proxy.port, request)));

describe("two replicas of web", () => {
  test("share the requests", async () => {
    const before = await counts();
    await times(20, { path: "/shared" });
    const after = await counts();
    expect(after[0] - before[0]).toBeGreaterThan(0);
    expect(after[1] - before[1]).toBeGreaterThan(0);
  });
  test("one of which cuts connections: a GET is retried on the other", async () => {
    await proxy.web.answer({ ...fine, instead: "reset" });
    const mark = await proxy.web.count();
    const answers = await times(20, { path: "/again" });
    expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200));
    expect(await proxy.web.count()).toBeGreaterThan(mark);
  });
  test("one of which cuts connections: a POST is never sent twice", async () => {
    await proxy.web.answer({ ...fine, instead: "reset" });
    const before = await counts();
    const answers = await times(20, { method: "POST", path: "/once", body: "a=1" });
    const after = await counts();
    expect(after[0] + after[1] - before[0] - before[1]).toBe(20);
    expect(answers.some((answer) => answer.status === 503)).toBe(true);
  });
});

test("a file of the new release is found on whichever replica has it", async () => {
  await proxy.web.answer({ status: 404, headers: {}, body: "gone" });
  const paths = Array.from({ length: 20 }, (_, i) => `/_next/static/new-${i}.js`);
  const answers = await Promise.all(paths.map((path) => send(proxy.port, { path })));
  expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200));
});

describe("a replica that is gone for good fails no request", () => {
  // Nginx asks DNS every five seconds, and gives up what waits for a replica that is no longer in the answer.
  afterEach(() => proxy.restart("web2"));
  test.each([0, 1_500, 3_000])("whenever it goes: %i ms after it was found", async (after) => {
    const seen = async () => (await proxy.web2?.count()) ?? 0;
    const mark = await seen();
    while ((await seen()) === mark) await send(proxy.port, { path: "/" });
    await pause(after);
    await proxy.on("web2", "kill");
    const answers = [];
    for (let i = 0; i < 60; i++) {
      const path = `/_next/static/${after}-${i}.js`;
      answers.push(send(proxy.port, { path: "/" }), send(proxy.port, { path }));
      answers.push(send(proxy.port, { method: "POST", path: "/", body: "a=1" }));
      await pause(100);
    }
    const failed = (await Promise.all(answers)).filter(({ status }) => status !== 200);
    expect(failed.map(({ status }) => status)).toEqual([]);
  });
});

// Last, because it leaves requests that get no answer.
test("a silent replica is asked by the kernel whether it is still there, for pages, images and hashed files", async () => {
  // Timers of established connections to port 9000: 02 is keepalive (https://docs.kernel.org/networking/proc_net_tcp.html).
  const timers = async () => {
    const sockets = await proxy.on("proxy", "exec", "cat", "/proc/net/tcp");
    return Array.from(sockets.matchAll(/:2328 01 \S+ (\d\d):/g), ([, timer]) => timer);
  };
  // Until Nginx has closed those of earlier requests, which it would use again.
  await expect.poll(timers).toEqual([]);
  await proxy.web.answer({ ...fine, instead: "hang" });
  await proxy.web2?.answer({ ...fine, instead: "hang" });
  for (const path of ["/", "/_next/image?url=%2Fa.png&w=64&q=75", "/_next/static/a.js"])
    send(proxy.port, { path }).catch(() => {});
  await expect.poll(timers).toEqual(["02", "02", "02"]);
});
