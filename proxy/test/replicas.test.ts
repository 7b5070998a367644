import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { ok, page, useProxy } from "./use-proxy.ts";
import { send } from "./wire.ts";

const shared = useProxy({ WEB_SETS: "web-a:9000 nowhere:9000" }, { twoReplicas: true });

const counts = async () => {
  const { web, web2 } = shared.proxy;
  return [await web.count(), (await web2?.count()) ?? 0] as const;
};
/** The statuses of as many requests at a time. */
const times = async (count: number, request: Parameters<typeof send>[1]) => {
  const answers = await Promise.all(Array.from({ length: count }, () => send(shared.proxy.port, request)));
  return answers.map(({ status }) => status);
};
const all = (status: number) => Array(20).fill(status);

describe("two replicas of web", () => {
  test("share the requests", async () => {
    const before = await counts();
    await times(20, { path: "/shared" });
    for (const [index, count] of (await counts()).entries()) expect(count).toBeGreaterThan(before[index] ?? 0);
  });
  test("one of which cuts connections: a GET is retried on the other, a POST is never sent twice", async () => {
    await shared.proxy.web.answer({ ...page, instead: "reset" });
    const [first, second] = await counts();
    expect(await times(20, { path: "/again" })).toEqual(all(200));
    const [firstAfter, secondAfter] = await counts();
    expect(firstAfter).toBeGreaterThan(first);
    expect(secondAfter).toBe(second + 20);
    expect(await times(20, { method: "POST", path: "/once", body: "a=1" })).toContain(503);
    const [firstEnd, secondEnd] = await counts();
    expect(firstEnd + secondEnd - firstAfter - secondAfter).toBe(20);
  });
  test("with headers that cannot be passed on: no replica is given up", async () => {
    const headers = { "set-cookie": Array.from({ length: 70 }, (_, i) => `c${i}=${"x".repeat(1_000)}`) };
    for (const web of [shared.proxy.web, shared.proxy.web2]) await web?.answer({ ...page, headers });
    expect(await times(20, { path: "/large" })).toEqual(all(502));
    for (const web of [shared.proxy.web, shared.proxy.web2]) await web?.answer(page);
    expect(await times(20, { path: "/page" })).toEqual(all(200));
  });
  test("one of which lacks a file of the new release: it is found on the other", async () => {
    await shared.proxy.web.answer({ ...page, status: 404 });
    for (let n = 0; n < 20; n++) expect(await times(1, { path: `/_next/static/new-${n}.js` })).toEqual([200]);
  });
});

describe("while make up stops a replica", () => {
  // Until then, in seconds since 1970.
  const askOnly = (name: string, until = 9_999_999_999) =>
    shared.proxy.inside(`cd /tmp/nginx/sets; rm -f *.current; echo ${until} >${name}.current`);
  const requests: Parameters<typeof send>[1][] = [
    { path: "/page" },
    { path: "/page", headers: { accept: "text/html" } },
    { method: "POST", path: "/page", body: "a=1" },
    { method: "POST", path: "/page", body: "x".repeat(100_000) },
    { path: "/_next/image?url=%2Fa.png&w=64&q=75" },
    { path: "/.culvert/settings" },
  ];
  test("only the replicas with the other name are asked, and no connection to them is kept", async () => {
    await askOnly("web-a");
    const [before, mark] = await counts();
    for (const [n, request] of requests.entries()) {
      await times(20, request);
      await times(1, { path: `/_next/static/other-${n}.js` });
    }
    expect((await counts())[0]).toBe(before);
    const connections = (await shared.proxy.web2?.all(mark))?.map(({ port }) => port) ?? [];
    expect(connections.length).toBeGreaterThan(60);
    expect(new Set(connections).size).toBe(connections.length);
  });
  test("a name that nobody has costs no request, and is forgotten; so is one whose time is over", async () => {
    const isForgotten = () =>
      expect
        .poll(() => shared.proxy.on("proxy", "exec", "find", "/tmp/nginx/sets", "-name", "*.current"), {
          timeout: 60_000,
        })
        .toBe("");
    await askOnly("nowhere");
    expect(await times(20, { path: "/page" })).toEqual(all(200));
    expect(await times(20, { method: "POST", path: "/page", body: "a=1" })).toEqual(all(200));
    await isForgotten();
    await askOnly("web-a", 1);
    await isForgotten();
  });
});

test("a replica that is gone for good fails no request", async () => {
  const seen = async () => (await shared.proxy.web2?.count()) ?? 0;
  const mark = await seen();
  while ((await seen()) === mark) await times(1, { path: "/" });
  onTestFinished(() => shared.proxy.restart("web2"));
  await shared.proxy.on("web2", "kill");
  const answers = [];
  // Six seconds: Nginx asks DNS every five, and gives up what waits for a replica that is no longer in the answer.
  for (let i = 0; i < 60; i++) {
    answers.push(times(1, { path: "/" }), times(1, { path: `/_next/static/${i}.js` }));
    answers.push(times(1, { method: "POST", path: "/", body: "a=1" }));
    await pause(100);
  }
  expect(new Set((await Promise.all(answers)).flat())).toEqual(new Set([200]));
});

// Last, because it leaves requests that get no answer.
test("a silent replica is asked by the kernel whether it is still there, for pages and hashed files", async () => {
  // Timers of established connections to port 9000: 02 is keepalive (https://docs.kernel.org/networking/proc_net_tcp.html).
  const timers = async () => {
    const sockets = await shared.proxy.on("proxy", "exec", "cat", "/proc/net/tcp");
    return Array.from(sockets.matchAll(/:2328 01 \S+ (\d\d):/g), ([, timer]) => timer);
  };
  // Until Nginx has closed those of earlier requests, which it would use again.
  await expect.poll(timers).toEqual([]);
  for (const web of [shared.proxy.web, shared.proxy.web2]) await web?.answer({ ...page, instead: "hang" });
  for (const path of ["/", "/_next/static/a.js"]) send(shared.proxy.port, { path }).catch(() => {});
  await expect.poll(timers).toEqual(["02", "02"]);
});

describe("with WEB_FALLBACK_UPSTREAM", () => {
  // The recorder that stands for an ingest elsewhere is the replica that is not ready.
  const shared = useProxy({ WEB_FALLBACK_UPSTREAM: "ingest:9000" });
  const bodies = async (count: number, method: string) => {
    const request = { method, path: "/", ...(method === "POST" && { body: "a=1" }) };
    const answers = await Promise.all(Array.from({ length: count }, () => send(shared.proxy.port, request)));
    return answers.map(({ body }) => body);
  };

  test("it gets nothing while there is a replica that is ready, and every request while there is none", async () => {
    expect(await bodies(20, "GET")).toEqual(Array(20).fill(page.body));
    // Its name leads nowhere from now on, as that of a headless Service without ready pods.
    await shared.proxy.on("web", "stop", "-t", "0");
    await expect.poll(() => bodies(1, "GET")).toEqual([ok.body]);
    expect(await bodies(20, "GET")).toEqual(Array(20).fill(ok.body));
    expect(await bodies(20, "POST")).toEqual(Array(20).fill(ok.body));
  });
});
