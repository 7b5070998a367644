import { createRequire } from "node:module";
import { beforeEach, describe, expect, onTestFailed, onTestFinished, test } from "vitest";
import type { Answer } from "../../deploy/test/support/recorder/types.ts";
import { changed, ok, page, type SharedProxy, useProxy, watching } from "./use-proxy.ts";
import { type Request, send } from "./wire.ts";

const at = (deployment: string, answer: Answer): Answer => ({
  ...answer,
  headers: { ...answer.headers, "x-nextjs-deployment-id": deployment },
});
const of = (deployment: string) => ({ "x-deployment-id": deployment });

/** A proxy that asks all sets each second, not each minute. */
const often = { mounts: watching(1, 1) };

test("Next names its release in the response to a request with RSC: 1, by which watch-sets.sh asks", async () => {
  const { default: loadCustomRoutes } = createRequire(import.meta.url)(
    "../../web/node_modules/next/dist/lib/load-custom-routes.js",
  );
  const has = [{ type: "header", key: "rsc", value: "1" }];
  const headers = [{ key: "x-nextjs-deployment-id", value: "a" }];
  const { onMatchHeaders } = await loadCustomRoutes({ deploymentId: "a", skipTrailingSlashRedirect: true });
  expect(onMatchHeaders).toContainEqual(expect.objectContaining({ source: "/:path*", has, headers }));
});

const bodyOf = async ({ proxy }: SharedProxy, request: Partial<Request> = {}) =>
  (await send(proxy.port, { path: "/page", ...request })).body;
const counted = ({ proxy }: SharedProxy, release: string) =>
  proxy.metric(`culvert_deployment_requests_total{release="${release}"}`);
const navigation = { "sec-fetch-mode": "navigate" };

describe("while a release that was replaced still runs", () => {
  // The recorder that stands for an ingest elsewhere is the release that was replaced.
  const short = changed("templates/web-on/hashed-file.conf", { "200 10s": "200 1s" });
  const shared = useProxy({ WEB_SETS: "nowhere:9000, ingest:9000" }, { mounts: { ...often.mounts, ...short } });

  beforeEach(async () => {
    await shared.proxy.ingest.answer(at("old-1", ok));
    await shared.proxy.web.answer(at("new-2", page));
    await expect.poll(() => bodyOf(shared, { headers: of("old-1") })).toBe(ok.body);
  });

  test.each<[string, Partial<Request>]>([
    ["navigations and prefetches of its pages", { headers: { ...of("old-1"), rsc: "1" } }],
    ["their server actions", { method: "POST", headers: of("old-1"), body: "a=1" }],
    ["their uploads", { method: "POST", headers: of("old-1"), body: "x".repeat(100_000) }],
    ["data of the Pages Router", { path: "/_next/data/old-1/en/page.json" }],
    ["its images", { path: "/_next/image?url=%2Fa.png&w=64&q=75&dpl=old-1" }],
    ["its hashed files", { path: "/_next/static/a.js?dpl=old-1" }],
    ["its other files", { path: "/logo.svg?dpl=old-1", headers: { "sec-fetch-mode": "no-cors" } }],
  ])("it gets %s", async (_, request) => {
    expect(await bodyOf(shared, request)).toBe(ok.body);
  });
  test("a stored file gets web's headers for every client, and stays if web has no such file", async () => {
    const { web, ingest, port } = shared.proxy;
    const path = `/_next/static/${Date.now()}.css?dpl=old-1`;
    const headers = { "content-type": "text/css", "cache-control": "max-age=9, immutable" };
    const file = { status: 200, headers, body: "a" };
    await ingest.answer(at("old-1", file));
    await web.answer({ ...file, headers: { ...headers, "content-language": "en" } });
    const ask = () => send(port, { path });
    expect((await ask()).headers["content-language"]).toBeUndefined();
    await expect.poll(async () => (await ask()).headers["content-language"]).toBe("en");
    for (const answer of [{ ...page, status: 404 }, page, { ...page, instead: "reset" as const }]) {
      await web.answer(answer);
      const mark = await web.count();
      const bodies = new Set();
      const isAsked = async () => {
        bodies.add((await ask()).body);
        return (await web.all(mark)).some(({ url }) => url === path);
      };
      await expect.poll(isAsked).toBe(true);
      expect([...bodies]).toEqual([file.body]);
    }
  });
  const links = ["/page?dpl=old-1", "/login?x=|/_next/data/old-1/", "/login?dpl=x|old-1"];
  test.each<[string, Partial<Request>]>([
    ...links.map((path): [string, Partial<Request>] => ["a document", { path, headers: navigation }]),
    ["a request that names no deployment", {}],
    ["one that names web's", { headers: of("new-2") }],
    ["one that names none that is known", { headers: of("older-0") }],
    ["one that names a path", { headers: of("../ingest/old-1") }],
    ["one that names a host", { path: "/page?dpl=ingest:9000" }],
  ])("web gets %s: %j", async (_, request) => {
    expect(await bodyOf(shared, request)).toBe(page.body);
  });
  test("web gets a page that it has begun and cut; a form is not sent twice", async () => {
    await shared.proxy.ingest.answer({ ...at("old-1", ok), instead: "reset" });
    expect(await bodyOf(shared, { headers: of("old-1") })).toBe(page.body);
    const form = { method: "POST", headers: of("old-1"), body: "a=1" };
    expect((await shared.through(form)).answer.status).toBe(503);
  });
  test("requests are counted by release", async () => {
    const all = () => Promise.all(["current", "previous", "gone"].map((release) => counted(shared, release)));
    // A request is counted after its response.
    const [, , gone = 0] = await all();
    await bodyOf(shared, { headers: of("older-0") });
    await expect.poll(() => counted(shared, "gone")).toBe(gone + 1);
    const before = await all();
    for (const deployment of ["new-2", "old-1", "old-1", "older-0", "older-0", "older-0"])
      await bodyOf(shared, { headers: of(deployment) });
    await bodyOf(shared);
    const added = async () => (await all()).map((count, index) => count - (before[index] ?? 0));
    await expect.poll(added).toEqual([1, 2, 3]);
  });

  test("when web is the same release, web gets its requests again", async () => {
    await shared.proxy.web.answer(at("old-1", page));
    await expect.poll(() => bodyOf(shared, { headers: of("old-1") })).toBe(page.body);
  });

  test("when it has ended, no request fails: web gets them", async () => {
    onTestFailed(() => shared.proxy.restart("ingest"));
    await shared.proxy.on("ingest", "kill");
    const requests: Partial<Request>[] = [
      ...["POST", "GET"].map((method) => ({ method, headers: of("old-1") })),
      ...["/_next/image?url=%2Fa.png&w=64&q=75&dpl=old-1", "/_next/static/b.js?dpl=old-1"].map((path) => ({ path })),
    ];
    // Also when its name has no address any more, before the proxy's look at it.
    const bodies = new Set();
    const log = async () => {
      await shared.proxy.inside("touch /var/lib/culvert/sets/ingest/old-1");
      for (const request of requests) bodies.add(await bodyOf(shared, request).catch(String));
      return shared.proxy.log();
    };
    await expect.poll(log).toContain("ingest could not be resolved");
    expect([...bodies]).toEqual([page.body]);
    expect(await shared.proxy.log()).not.toContain("nowhere could not be resolved");
  });
});

const rollout = useProxy({ WEB_SETS: "web:9000 web-current:9000 ingest:9999" }, often);
test("in a rollout of Kubernetes, pages of the new release get a new replica until all are new", async () => {
  // The recorder that stands for an ingest elsewhere is the first replica of the new release.
  const { web, ingest } = rollout.proxy;
  // It forgets which addresses were of which release.
  onTestFailed(() => rollout.proxy.restart("proxy"));
  const pageOf = (deployment: string) => bodyOf(rollout, { headers: of(deployment) });
  const looks = async (mark: number) => (await ingest.all(mark)).filter(({ url }) => url === "/.culvert").length;
  await web.answer(at("old-1", page));
  const mark = await ingest.count();
  await ingest.answer(at("new-2", ok));
  await expect.poll(() => pageOf("new-2")).toBe(ok.body);
  // Nginx may have had its earlier address in between.
  expect(await looks(mark)).toBeGreaterThan(1);
  expect(await bodyOf(rollout, { headers: of("new-2"), method: "POST", body: "a=1" })).toBe(ok.body);
  expect(await pageOf("old-1")).toBe(page.body);
  expect(await bodyOf(rollout, { headers: navigation })).toBe(page.body);
  await expect.poll(() => counted(rollout, "current")).toBeGreaterThan(2);
  expect(await counted(rollout, "previous")).toBe(0);

  await web.answer(at("new-2", page));
  await expect.poll(() => pageOf("new-2")).toBe(page.body);

  // In the next rollout, DNS still has the same address for web-current.
  await web.answer(at("newer-3", page));
  const before = await ingest.count();
  await expect.poll(() => looks(before)).toBeGreaterThan(3);
  expect(await pageOf("new-2")).toBe(page.body);
});
test("a set gets nothing more when its address has become that of a pod that has not started", async () => {
  const folder = "/var/lib/culvert/sets/ingest";
  await rollout.proxy.inside(`touch ${folder}/old-1 ${folder}/.old-1`);
  await expect.poll(() => rollout.proxy.inside(`ls -A ${folder}`)).toBe("");

  // Without an address of web, DNS does not answer.
  onTestFinished(() => rollout.proxy.restart("web"));
  await rollout.proxy.on("web", "stop", "-t", "0");
  const turn = async () => {
    await rollout.proxy.inside(`echo 1 >${folder}.current`);
    await expect.poll(() => rollout.proxy.inside(`ls -d ${folder}*`)).toBe(folder);
  };
  // One that began before knows its address.
  await turn();
  await turn();
  await rollout.proxy.inside(`touch ${folder}/old-1`);
  await turn();
  await turn();
  expect(await rollout.proxy.inside(`ls -A ${folder}`)).toBe("old-1");
});

const mounts = watching(0.1, 99_999);
const idle = useProxy({ WEB_SETS: "web-current:9000" }, { mounts, twoReplicas: true });

test("while no address changes, the sets are not asked; when a replica has ended, they are", async () => {
  const { web, web2, ingest } = idle.proxy;
  await Promise.all([web.answer(at("old-1", page)), web2?.answer(at("old-1", page)), ingest.answer(at("new-2", ok))]);
  const asked = async () => {
    const requests = await Promise.all([web, web2, ingest].map((recorder) => recorder?.all()));
    return requests.flatMap((all) => all ?? []).filter(({ url }) => url === "/.culvert").length;
  };
  await expect.poll(asked).toBeGreaterThan(0);
  // The first look at them may still go on.
  const growth = async () => {
    const before = await asked();
    for (let n = 0; n < 50; n += 1) await bodyOf(idle);
    return (await asked()) - before;
  };
  await expect.poll(growth).toBe(0);
  const mark = await web.count();
  onTestFailed(() => idle.proxy.restart("web2"));
  await idle.proxy.on("web2", "kill");
  await expect.poll(async () => (await web.all(mark)).map(({ url }) => url)).toContain("/.culvert");
});
