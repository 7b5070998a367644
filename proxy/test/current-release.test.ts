import { expect, test } from "vitest";
import type { Answer } from "../../deploy/test/support/recorder/types.ts";
import { ok, page, useProxy } from "./use-proxy.ts";
import { type Request, send } from "./wire.ts";

// The recorder that stands for an ingest elsewhere is the first replica of the new release.
const shared = useProxy({ WEB_SETS: "web-current:9000" });
const runs = (deployment: string, answer: Answer): Answer => ({
  ...answer,
  headers: { ...answer.headers, "x-nextjs-deployment-id": deployment },
});
const answerTo = async (headers: Record<string, string>, more: Partial<Request> = {}) =>
  (await send(shared.proxy.port, { path: "/page", headers, ...more })).body;
const from = (deployment: string) => ({ "x-deployment-id": deployment });
const counted = (release: string) => shared.proxy.metric(`culvert_deployment_requests_total{release="${release}"}`);
const timeoutOptions = { timeout: 60_000 };

test("before a rollout replaces the first replica, pages of all releases have their route", async () => {
  for (const one of [shared.proxy.web, shared.proxy.ingest])
    await one.answer(runs("old-1", one === shared.proxy.web ? page : ok));
  await expect.poll(() => answerTo(from("old-1")), timeoutOptions).toBe(ok.body);
});

test("while a rollout replaces web's replicas, pages of the new release get a new one", async () => {
  await shared.proxy.web.answer(runs("old-1", page));
  await shared.proxy.ingest.answer(runs("new-2", ok));
  await expect.poll(() => answerTo(from("new-2")), timeoutOptions).toBe(ok.body);
  expect(await answerTo(from("new-2"), { method: "POST", body: "a=1" })).toBe(ok.body);
  expect(await answerTo(from("old-1"))).toBe(page.body);
  expect(await answerTo({ "sec-fetch-mode": "navigate" })).toBe(page.body);
  await expect.poll(() => counted("current"), timeoutOptions).toBeGreaterThan(2);
  expect(await counted("previous")).toBe(0);

  // Then web balances again, over all replicas.
  await shared.proxy.web.answer(runs("new-2", page));
  await shared.proxy.on("proxy", "exec", "touch", "-d", "3 minutes ago", "/tmp/nginx/sets/web-current/new-2");
  await expect.poll(() => answerTo(from("new-2")), timeoutOptions).toBe(page.body);
});
