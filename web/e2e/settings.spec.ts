import { navigationHeaders, navigationPath } from "../../loadtest/lib/navigation.ts";
import { freshTrace, itemsIn, messageOf, of } from "./envelopes.ts";
import { expect, test } from "./fixtures.ts";
import { startWeb } from "./web-alone.ts";

// src/console/guard.test.ts has each page, action and route.
test("CONSOLE=off: the console's routes respond with 404 and run for no request, health checks work", async () => {
  const { web, recorder, stop, close } = await startWeb("CONSOLE=off");
  const statusOf = async (path: string, init?: RequestInit) => (await fetch(web + path, init)).status;
  for (const path of ["/", "/trace", "/api/echo"]) expect(await statusOf(path), path).toBe(404);
  expect(await statusOf("/test-events/route-exception", { method: "POST" })).toBe(404);
  // The cookie that breaks the root layout has no effect either.
  expect(await statusOf("/", { headers: { cookie: "culvert-broken-layout=1" } })).toBe(404);
  for (const path of ["/healthz", "/readyz"]) expect(await statusOf(path)).toBe(200);
  // It claims to be a navigation within the console. Next redirects to the address with the hash of these headers.
  const headers = navigationHeaders("/(console)/elsewhere");
  const { url } = await fetch(web + navigationPath("/test-events/server-exception", "0"), { headers });
  const flight = await (await fetch(url, { redirect: "manual", headers })).text();
  // Such a response starts with status 200 before the page runs; the content in place of the page says that there is none.
  expect(flight).toContain(':E{"digest":"NEXT_HTTP_ERROR_FALLBACK;404"}');
  expect(flight).not.toMatch(/"h1"|NEXT_REDIRECT|"digest":"\d/);
  await stop();
  const received = await recorder.all();
  expect(received.filter(({ url }) => url === "/upstream")).toEqual([]);
  expect(received.flatMap((request) => itemsIn(request, "event"))).toEqual([]);
  await close();
});

test("SENTRY_TRACES_SAMPLE_RATE=0: errors are sent with their request, and of traces only those that their caller sampled", async () => {
  const { web, recorder, stop, close } = await startWeb("SENTRY_TRACES_SAMPLE_RATE=0");
  expect((await fetch(`${web}/test-events/server-exception?a=1`)).status).toBe(500);
  const caller = freshTrace();
  await fetch(`${web}/test-events`, { headers: caller.headers });
  await stop();
  const [event, ...others] = (await recorder.all()).flatMap((request) => itemsIn(request, "event"));
  expect(others).toEqual([]);
  expect(event && messageOf(event)).toContain("Thrown on purpose");
  expect(event?.item.payload).toMatchObject({
    transaction: "GET /test-events/server-exception",
    request: { method: "GET", url: `${web}/test-events/server-exception?a=1`, headers: { host: new URL(web).host } },
  });
  const transactions = (await recorder.all()).flatMap((request) => itemsIn(request, "transaction"));
  expect(transactions.map(of(caller.id))).toEqual([true]);
  await close();
});
