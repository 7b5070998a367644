import { docker, label, must, restricted } from "../../deploy/test/support/docker.ts";
import { navigationHeaders, navigationPath } from "../../loadtest/lib/navigation.ts";
import { expect, test } from "./fixtures.ts";

// src/console/console.test.ts has each page, action and route.
test("CONSOLE=off: the console's routes are not found and run for no request, health checks work", async () => {
  const options = [label, ...restricted, "--tmpfs=/tmp:uid=1000,mode=0700", "-p=127.0.0.1::3000", "--env=CONSOLE=off"];
  const id = await must("run", "-d", ...options, `${process.env.COMPOSE_PROJECT_NAME}-web`);
  const web = `http://${await must("port", id, "3000")}`;
  const statusOf = async (path: string, init?: RequestInit) => (await fetch(web + path, init)).status;
  await expect(async () => expect(await statusOf("/readyz")).toBe(200)).toPass();
  expect(await statusOf("/healthz")).toBe(200);
  expect(await statusOf("/api/echo")).toBe(404);
  // With Cache Components, Next sends status 200 before a page runs. In its place is what says that there is none.
  for (const path of ["/", "/trace", "/test-events", "/test-events/server-exception"]) {
    const html = await (await fetch(web + path)).text();
    expect(html, path).toContain('<meta name="robots" content="noindex"/>');
    expect(html, path).not.toMatch(/What is running|Outgoing|In the browser|aria-label="Main"/);
  }
  expect(await statusOf("/test-events/route-exception", { method: "POST" })).toBe(404);
  // The cookie that breaks the root layout has no effect either.
  expect(await (await fetch(web, { headers: { cookie: "culvert-broken-layout=1" } })).text()).toContain("noindex");
  // It claims to be a navigation within the console. Next redirects to the address with the hash of these headers.
  const headers = navigationHeaders("/(console)/elsewhere");
  const { url } = await fetch(web + navigationPath("/test-events/server-exception", "0"), { headers });
  const flight = await (await fetch(url, { redirect: "manual", headers })).text();
  expect(flight).toContain(':E{"digest":"NEXT_HTTP_ERROR_FALLBACK;404"}');
  expect(flight).not.toMatch(/"h1"|NEXT_REDIRECT|"digest":"\d/);
  expect(await must("logs", id)).not.toContain("Thrown on purpose");
  await docker("rm", "-f", "-v", id);
});
