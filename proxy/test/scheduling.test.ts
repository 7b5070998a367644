import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hardened } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";
import { workerPids } from "./proxy.ts";
import { inTurn } from "./starts.ts";
import { useProxy } from "./use-proxy.ts";

const shared = useProxy();

test("workers do not interrupt what runs on their core", async () => {
  const policies = await shared.proxy.on(
    "proxy",
    "exec",
    "sh",
    "-c",
    `${workerPids} | while read -r pid; do chrt -p $pid; done`,
  );
  expect(policies).toContain("scheduling policy: SCHED_BATCH");
  expect(policies).not.toContain("SCHED_OTHER");
});

test("a sandbox that does not let a process choose its scheduling is no obstacle", async () => {
  const folder = mkdtempSync(join(tmpdir(), "culvert-"));
  const denied = { names: ["sched_setscheduler", "sched_setattr"], action: "SCMP_ACT_ERRNO" };
  const profile = { defaultAction: "SCMP_ACT_ALLOW", syscalls: [denied] };
  writeFileSync(join(folder, "seccomp.json"), JSON.stringify(profile));
  try {
    const options = [...hardened, `--security-opt=seccomp=${folder}/seccomp.json`];
    const settings = { SENTRY_DSN: "http://key@127.0.0.1:9000/7" };
    const [start] = await inTurn(await build(), "/culvert/entrypoint.sh", [settings], options);
    expect(start).toMatchObject({ code: 0, output: expect.stringContaining("started for") });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
