import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, onTestFailed, onTestFinished, test } from "vitest";
import { ok, page, pageWith, type SharedProxy, useProxy, watching } from "./use-proxy.ts";
import { type Request, send } from "./wire.ts";

const shared = useProxy(
  { WEB_SETS: "web-a:9000 nowhere:9000", WEBSOCKET_PATH: "/socket" },
  { twoReplicas: true, mounts: watching(1, 12) },
);

const counts = async () => {
  const { web, web2 } = shared.proxy;
  return [await web.count(), (await web2?.count()) ?? 0] as const;
};
const answers = ({ proxy }: SharedProxy, count: number, request: Request) =>
  Promise.all(Array.from({ length: count }, () => send(proxy.port, request)));
const times = async (count: number, request: Request) =>
  (await answers(shared, count, request)).map(({ status }) => status);
const all = (status: number) => Array(20).fill(status);
const form = { method: "POST", path: "/page", body: "a=1" };

describe("two replicas of web", () => {
  test("one of which cuts connections: a GET is retried on the other, a POST is never sent twice", async () => {
    await shared.proxy.web.answer({ ...page, instead: "reset" });
    const [first, second] = await counts();
    const timed = () => shared.proxy.metric("culvert_page_duration_seconds_count");
    const before = await timed();
    expect(await times(20, { path: "/again" })).toEqual(all(200));
    // A page is counted after its response.
    await expect.poll(timed).toBe(before + 20);
    const [firstAfter, secondAfter] = await counts();
    expect(firstAfter).toBeGreaterThan(first);
    // watch-sets.sh asks, too.
    expect(secondAfter).toBeGreaterThanOrEqual(second + 20);
    expect(await times(20, form)).toContain(503);
    const { web, web2 } = shared.proxy;
    const sent = [...(await web.all(firstAfter)), ...((await web2?.all(secondAfter)) ?? [])];
    expect(sent.filter(({ method }) => method === "POST")).toHaveLength(20);
  });
  test("with headers that cannot be passed on: no replica is given up", async () => {
    const headers = { "set-cookie": Array.from({ length: 70 }, (_, i) => `c${i}=${"x".repeat(1_000)}`) };
    for (const web of [shared.proxy.web, shared.proxy.web2]) await web?.answer(pageWith(headers));
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
    shared.proxy.inside(`cd /var/lib/culvert/sets; rm -f *.current; echo ${until} >${name}.current`);
  const paths = ["/page", "/.culvert/settings", "/socket"];
  const requests = [form, { ...form, body: "x".repeat(100_000) }, ...paths.map((path) => ({ path }))];
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
    const found = () => shared.proxy.inside("find /var/lib/culvert/sets -name '*.current'");
    const isForgotten = () => expect.poll(found).toBe("");
    await askOnly("nowhere");
    expect(await times(20, { path: "/page" })).toEqual(all(200));
    expect(await times(20, form)).toEqual(all(200));
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
  const statuses = [];
  // Six seconds: Nginx asks DNS every five, and gives up what waits for a replica that is no longer in the answer.
  for (let i = 0; i < 60; i++) {
    statuses.push(times(1, { path: "/" }), times(1, { path: `/_next/static/${i}.js` }), times(1, form));
    await pause(100);
  }
  expect(new Set((await Promise.all(statuses)).flat())).toEqual(new Set([200]));
});

// The recorder that stands for an ingest elsewhere is the replica that is not ready.
const withFallback = useProxy({ WEB_FALLBACK_UPSTREAM: "ingest:9000" });
test("WEB_FALLBACK_UPSTREAM gets nothing while a replica is ready, and every request while none is", async () => {
  const bodies = async (count: number, request: Request) =>
    (await answers(withFallback, count, request)).map(({ body }) => body);
  expect(await bodies(20, { path: "/" })).toEqual(Array(20).fill(page.body));
  onTestFailed(() => withFallback.proxy.restart("web"));
  // Its name leads nowhere from now on, as that of a headless Service without ready pods.
  await withFallback.proxy.on("web", "stop", "-t", "0");
  await expect.poll(() => bodies(1, { path: "/" })).toEqual([ok.body]);
  for (const request of [{ path: "/" }, form]) expect(await bodies(20, request)).toEqual(Array(20).fill(ok.body));
});
