import { createRequire } from "node:module";
import { beforeEach, describe, expect, test } from "vitest";
import type { Answer } from "../../deploy/test/support/recorder/types.ts";
import { ok, page, useProxy } from "./use-proxy.ts";
import { type Request, send } from "./wire.ts";

const at = (deployment: string, answer: Answer): Answer => ({
  ...answer,
  headers: { ...answer.headers, "x-nextjs-deployment-id": deployment },
});
const of = (deployment: string) => ({ "x-deployment-id": deployment });

test("Next names its release in the response to a request with RSC: 1, by which watch-sets.sh asks", async () => {
  const { default: loadCustomRoutes } = createRequire(import.meta.url)(
    "../../web/node_modules/next/dist/lib/load-custom-routes.js",
  );
  const has = [{ type: "header", key: "rsc", value: "1" }];
  const headers = [{ key: "x-nextjs-deployment-id", value: "a" }];
  const { onMatchHeaders } = await loadCustomRoutes({ deploymentId: "a", skipTrailingSlashRedirect: true });
  expect(onMatchHeaders).toContainEqual(expect.objectContaining({ source: "/:path*", has, headers }));
});

describe("a release that was replaced", () => {
  // The recorder that stands for an ingest elsewhere is the release that was replaced.
  const shared = useProxy({ WEB_SETS: "nowhere:9000, ingest:9000" });
  const ask = async (request: Partial<Request> = {}) => send(shared.proxy.port, { path: "/page", ...request });
  const counted = (release: string) => shared.proxy.metric(`culvert_deployment_requests_total{release="${release}"}`);

  beforeEach(async () => {
    await shared.proxy.ingest.answer(at("old-1", ok));
    await shared.proxy.web.answer(at("new-2", page));
    await expect.poll(async () => (await ask({ headers: of("old-1") })).body, { timeout: 60_000 }).toBe(ok.body);
  });

  test.each<[string, Partial<Request>]>([
    ["a query", { path: "/login?x=|/_next/data/old-1/" }],
    ["dpl", { path: "/login?dpl=|/_next/data/old-1/", headers: { "sec-fetch-mode": "navigate" } }],
    ["dpl, as a header", { path: "/login?dpl=x|old-1", headers: { "sec-fetch-mode": "navigate" } }],
    ["a query, as dpl", { path: "/login?x=|old-1", headers: { "sec-fetch-mode": "navigate" } }],
    ["a query, as two fields", { path: "/login?x=|old-1|old-1", headers: { "sec-fetch-mode": "navigate" } }],
    ["a path", { path: "/login|/_next/data/old-1/x", headers: { "sec-fetch-mode": "navigate" } }],
  ])("a link cannot choose the release of a page by %s", async (_, request) => {
    expect((await ask(request)).body).toBe(page.body);
  });

  describe("while a release that was replaced still runs", () => {
    test.each<[string, Partial<Request>]>([
      ["navigations and prefetches of its pages", { headers: { ...of("old-1"), rsc: "1" } }],
      ["their server actions", { method: "POST", headers: of("old-1"), body: "a=1" }],
      ["their uploads", { method: "POST", headers: of("old-1"), body: "x".repeat(100_000) }],
      ["data of the Pages Router", { path: "/_next/data/old-1/en/page.json" }],
      ["its images", { path: "/_next/image?url=%2Fa.png&w=64&q=75&dpl=old-1" }],
      ["its hashed files", { path: "/_next/static/a.js?dpl=old-1" }],
      ["its other files", { path: "/logo.svg?dpl=old-1", headers: { "sec-fetch-mode": "no-cors" } }],
    ])("it gets %s", async (_, request) => {
      expect((await ask(request)).body).toBe(ok.body);
    });
    test.each<[string, Partial<Request>]>([
      ["a document", { path: "/page?dpl=old-1", headers: { "sec-fetch-mode": "navigate" } }],
      ["a request that names no deployment", {}],
      ["one that names web's", { headers: of("new-2") }],
      ["one that names none that is known", { headers: of("older-0") }],
      ["one that names a path", { headers: of("../ingest/old-1") }],
      ["one that names a folder", { headers: of(".") }],
      ["one that names a host", { path: "/page?dpl=ingest:9000" }],
      ["one that names two", { headers: of("old-1, new-2") }],
    ])("web gets %s", async (_, request) => {
      expect((await ask(request)).body).toBe(page.body);
    });
    test("web gets a page that it has begun and cut; a form is not sent twice", async () => {
      await shared.proxy.ingest.answer({ ...at("old-1", ok), instead: "reset" });
      expect((await ask({ headers: of("old-1") })).body).toBe(page.body);
      expect((await ask({ method: "POST", headers: of("old-1"), body: "a=1" })).status).toBe(503);
    });
    test("requests are counted by release", async () => {
      const all = () => Promise.all(["current", "previous", "gone"].map(counted));
      // A request is counted after its response.
      const gone = await counted("gone");
      await ask({ headers: of("older-0") });
      await expect.poll(() => counted("gone")).toBe(gone + 1);
      const before = await all();
      for (const deployment of ["new-2", "old-1", "old-1", "older-0", "older-0", "older-0"])
        await ask({ headers: of(deployment) });
      await ask();
      const added = async () => (await all()).map((count, index) => count - (before[index] ?? 0));
      await expect.poll(added).toEqual([1, 2, 3]);
    });
  });

  test("when web is the same release, web gets its requests again", async () => {
    await shared.proxy.web.answer(at("old-1", page));
    await shared.proxy.on("proxy", "exec", "touch", "-d", "3 minutes ago", "/tmp/nginx/sets/ingest/old-1");
    await expect.poll(async () => (await ask({ headers: of("old-1") })).body, { timeout: 60_000 }).toBe(page.body);
  });

  test("when it has ended, no request fails: web gets them", async () => {
    await shared.proxy.on("ingest", "kill");
    expect((await ask({ method: "POST", headers: of("old-1"), body: "a=1" })).body).toBe(page.body);
    // Also when its name has no address any more, before the proxy's look at it.
    const log = async () => {
      await shared.proxy.on("proxy", "exec", "touch", "/tmp/nginx/sets/ingest/old-1");
      for (const method of ["GET", "POST"])
        expect((await ask({ method, headers: of("old-1") })).body, method).toBe(page.body);
      for (const path of ["/_next/image?url=%2Fa.png&w=64&q=75&dpl=old-1", "/_next/static/b.js?dpl=old-1"])
        expect((await ask({ path })).body, path).toBe(page.body);
      return shared.proxy.log();
    };
    await expect.poll(log, { timeout: 60_000 }).toContain("ingest could not be resolved");
    expect(await shared.proxy.log()).not.toContain("nowhere could not be resolved");
  });
});

describe("in a rollout of Kubernetes", () => {
  // The recorder that stands for an ingest elsewhere is the first replica of the new release.
  const rollout = useProxy({ WEB_SETS: "web-current:9000" });
  const answerTo = async (headers: Record<string, string>, more: Partial<Request> = {}) =>
    (await send(rollout.proxy.port, { path: "/page", headers, ...more })).body;
  const countedIn = (release: string) =>
    rollout.proxy.metric(`culvert_deployment_requests_total{release="${release}"}`);

  test("before a rollout replaces the first replica, pages of all releases have their route", async () => {
    for (const one of [rollout.proxy.web, rollout.proxy.ingest])
      await one.answer(at("old-1", one === rollout.proxy.web ? page : ok));
    await expect.poll(() => answerTo(of("old-1")), { timeout: 60_000 }).toBe(ok.body);
  });

  test("while a rollout replaces web's replicas, pages of the new release get a new one", async () => {
    await rollout.proxy.web.answer(at("old-1", page));
    await rollout.proxy.ingest.answer(at("new-2", ok));
    await expect.poll(() => answerTo(of("new-2")), { timeout: 60_000 }).toBe(ok.body);
    expect(await answerTo(of("new-2"), { method: "POST", body: "a=1" })).toBe(ok.body);
    expect(await answerTo(of("old-1"))).toBe(page.body);
    expect(await answerTo({ "sec-fetch-mode": "navigate" })).toBe(page.body);
    await expect.poll(() => countedIn("current"), { timeout: 60_000 }).toBeGreaterThan(2);
    expect(await countedIn("previous")).toBe(0);

    // Then web balances again, over all replicas.
    await rollout.proxy.web.answer(at("new-2", page));
    await rollout.proxy.on("proxy", "exec", "touch", "-d", "3 minutes ago", "/tmp/nginx/sets/web-current/new-2");
    await expect.poll(() => answerTo(of("new-2")), { timeout: 60_000 }).toBe(page.body);
  });
});
