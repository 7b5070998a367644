import { navigationHeaders, navigationPath } from "../../loadtest/lib/navigation.ts";
import { itemsIn } from "./envelopes.ts";
import { expect, test } from "./fixtures.ts";
import { createTestNetwork, hardened, type TestNetwork, waitUntilUp, webImage } from "./test-network.ts";

const DSN = "--env=SENTRY_DSN=http://culvert@recorder:9000/1";

let network: TestNetwork;
test.beforeEach(async () => {
  network = await createTestNetwork();
});
test.afterEach(() => network.close());

async function startWeb(...env: string[]): Promise<string> {
  const port = await network.run("web", [...hardened, ...env, webImage], 3000);
  await waitUntilUp(`http://127.0.0.1:${port}/healthz`);
  return `http://127.0.0.1:${port}`;
}

const CONSOLE = [
  "/",
  "/test-events",
  "/test-events/server-exception",
  "/test-events/both-sides",
  "/test-events/in-suspense",
  "/test-events/redirect",
  "/trace",
];

test("with CONSOLE=off the console's routes respond with 404, and the health checks still with 200", async () => {
  const web = await startWeb("--env=CONSOLE=off");
  const statusOf = async (path: string, init?: RequestInit) =>
    (await fetch(`${web}${path}`, { redirect: "manual", ...init })).status;
  for (const path of [...CONSOLE, "/api/echo"]) {
    expect(await statusOf(path), path).toBe(404);
  }
  expect(await statusOf("/test-events/route-exception", { method: "POST" })).toBe(404);
  // The cookie that breaks the root layout has no effect either.
  expect(await statusOf("/", { headers: { cookie: "culvert-broken-layout=1" } })).toBe(404);
  expect(await statusOf("/healthz")).toBe(200);
  expect(await statusOf("/readyz")).toBe(200);
  expect(await (await fetch(`${web}/`)).text()).not.toContain("<nav");
});

test("with CONSOLE=off no route of the console runs for a request that claims to be a navigation within the console", async () => {
  const recorder = await network.startRecorder(["recorder"]);
  const web = await startWeb("--env=CONSOLE=off", "--env=UPSTREAM_URL=http://recorder:9000/upstream", DSN);
  for (const page of CONSOLE) {
    const headers = navigationHeaders("/(console)/elsewhere");
    // Next redirects to the address with the hash of these headers.
    const { url } = await fetch(web + navigationPath(page, "0"), { headers });
    const flight = await (await fetch(url, { redirect: "manual", headers })).text();
    // Such a response starts with status 200 before the page runs; the content in place of the page says that there is none.
    expect(flight, page).toContain(':E{"digest":"NEXT_HTTP_ERROR_FALLBACK;404"}');
    expect(flight, page).not.toMatch(/"h1"|NEXT_REDIRECT|"digest":"\d/);
  }
  // On SIGTERM it sends all buffered events.
  await network.on("web", "stop", "-t", "15");
  const received = await recorder.all();
  expect(received.filter(({ url }) => url === "/upstream")).toEqual([]);
  expect(received.flatMap((request) => itemsIn(request, "event"))).toEqual([]);
});
