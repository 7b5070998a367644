import { randomUUID } from "node:crypto";
import { docker, label, must, restricted } from "../../deploy/test/support/docker.ts";
import { Recorder } from "../../deploy/test/support/recorder/client.ts";
import { recorderArguments } from "../../deploy/test/support/recorder/container.ts";
import { navigationHeaders, navigationPath } from "../../loadtest/lib/navigation.ts";
import { itemsIn } from "./envelopes.ts";
import { expect, test } from "./fixtures.ts";

/** Starts the app with CONSOLE=off, beside the stack, and a recorder as its ingest and upstream. */
async function startWeb() {
  const id = `culvert-e2e-${randomUUID().slice(0, 8)}`;
  await must("network", "create", label, id);
  const start = async (name: string, port: string, ...args: string[]) => {
    const place = [label, `--name=${id}-${name}`, `--network=${id}`, `--network-alias=${name}`];
    await must("run", "-d", ...place, `-p=127.0.0.1::${port}`, ...args);
    return `http://${await must("port", `${id}-${name}`, port)}`;
  };
  const settings = [
    "CONSOLE=off",
    "SENTRY_DSN=http://culvert@recorder:9000/1",
    "UPSTREAM_URL=http://recorder:9000/upstream",
  ];
  const env = settings.map((one) => `--env=${one}`);
  const recorder = new Recorder(await start("recorder", "9001", ...recorderArguments()));
  const image = `${process.env.COMPOSE_PROJECT_NAME}-web`;
  const web = await start("web", "3000", ...restricted, "--tmpfs=/tmp:uid=1000,mode=0700", ...env, image);
  await expect(() => Promise.all([fetch(`${web}/healthz`), recorder.count()])).toPass();
  return {
    web,
    recorder,
    /** On SIGTERM, web sends all events that it has buffered. */
    stop: () => must("stop", "-t", "15", `${id}-web`),
    close: async () => {
      await docker("rm", "-f", "-v", `${id}-web`, `${id}-recorder`);
      await docker("network", "rm", id);
    },
  };
}

// src/console/guard.test.ts has each page, action and route.
test("CONSOLE=off: the console's routes respond with 404 and run for no request, health checks work", async () => {
  const { web, recorder, stop, close } = await startWeb();
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
