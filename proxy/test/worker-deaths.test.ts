import { expect, test } from "vitest";
import { killWorkers } from "./proxy.ts";
import { useProxy } from "./use-proxy.ts";
import { send } from "./wire.ts";

const shared = useProxy();

test("a killed worker ends the container, which says so; started again it answers, whatever was counted before", async () => {
  const { proxy } = shared;
  expect((await send(proxy.port, { path: "/" })).status).toBe(200);
  const killed = await killWorkers(proxy);
  expect(killed).toBeGreaterThan(0);
  await expect.poll(() => proxy.on("proxy", "inspect", "--format={{.State.Running}}")).toBe("false");
  const log = await proxy.on("proxy", "logs");
  expect(log.match(/worker process \d+ exited on signal 9/g)).toHaveLength(killed);
  expect(log).toContain("culvert proxy: a worker of Nginx has died: the container ends, to start again");
  await proxy.restart("proxy");
  expect((await send(proxy.port, { path: "/" })).status).toBe(200);
});
