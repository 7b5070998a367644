import { afterAll, beforeAll, expect, test } from "vitest";
import { startProxy, type TestProxy } from "./proxy.ts";
import { send } from "./wire.ts";

const fallback = "web-all";

let proxy: TestProxy;
beforeAll(async () => {
  // The recorder that stands for an ingest elsewhere is the replica that is not ready.
  proxy = await startProxy({ WEB_FALLBACK_UPSTREAM: `${fallback}:9000` }, { ingestNames: [fallback] });
  await proxy.web.answer({ status: 200, headers: {}, body: "ready" });
  await proxy.ingest.answer({ status: 200, headers: {}, body: "not ready" });
});
afterAll(() => proxy?.stop());

const bodies = async (count: number, method: string) => {
  const request = { method, path: "/", ...(method === "POST" && { body: "a=1" }) };
  const answers = await Promise.all(Array.from({ length: count }, () => send(proxy.port, request)));
  return answers.map(({ body }) => `${body}`);
};

test("the fallback gets nothing while there is a replica that is ready", async () => {
  expect(await bodies(20, "GET")).toEqual(Array(20).fill("ready"));
});

test("while no replica is, the fallback gets every request, and none fails", async () => {
  // Its name leads nowhere from now on, as that of a headless Service without ready pods.
  await proxy.on("web", "stop", "-t", "0");
  await expect.poll(() => bodies(1, "GET")).toEqual(["not ready"]);
  expect(await bodies(20, "GET")).toEqual(Array(20).fill("not ready"));
  expect(await bodies(20, "POST")).toEqual(Array(20).fill("not ready"));
});
