import { expect, test } from "vitest";
import { workerPids } from "./proxy.ts";
import { useProxy } from "./use-proxy.ts";

const shared = useProxy();

test("workers do not interrupt what runs on their core", async () => {
  const look = `${workerPids} | while read -r pid; do chrt -p $pid; done`;
  const policies = await shared.proxy.on("proxy", "exec", "sh", "-c", look);
  expect(policies).toContain("scheduling policy: SCHED_BATCH");
  expect(policies).not.toContain("SCHED_OTHER");
});
