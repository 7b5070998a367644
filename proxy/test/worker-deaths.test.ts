import { expect, onTestFinished, test } from "vitest";
import { docker, hardened, label, must } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";

test("a killed worker ends the container, which says so; started again it answers, also after a kill of all processes", async () => {
  // Not in memory, which Docker empties at a restart: a pod's emptyDir outlives its containers.
  const options = [...hardened.filter((option) => !option.startsWith("--tmpfs=/tmp:")), "--volume=/tmp"];
  const settings = ["--env=SENTRY_DSN=http://key@127.0.0.1:9/7", "--env=WEB_UPSTREAM=127.0.0.1:9"];
  const id = await must("run", "-d", label, "--network=none", ...options, ...settings, await build());
  onTestFinished(() => docker("rm", "-f", "-v", id).then(() => undefined));
  const inside = (script: string) => docker("exec", id, "sh", "-c", script);
  const healthy = async () => (await inside("curl -sS http://127.0.0.1:8081/healthz")).output === "ok\n";
  const restarted = async () => {
    await must("wait", id);
    await must("start", id);
    await expect.poll(healthy).toBe(true);
  };
  await expect.poll(healthy).toBe(true);
  const workers = "grep -l '^nginx: worker' /proc/[0-9]*/cmdline | cut -d/ -f3";
  const { output } = await inside(`${workers} | while read -r pid; do kill -9 $pid && echo killed; done`);
  const killed = output.match(/killed/g)?.length;
  expect(killed).toBeGreaterThan(0);
  await restarted();
  const log = await must("logs", id);
  expect(log.match(/worker process \d+ exited on signal 9/g)).toHaveLength(killed ?? 0);
  expect(log).toContain("culvert proxy: a worker of Nginx has died: the container ends, to start again");

  // A file that a request left when its worker was killed.
  await inside("touch /tmp/client-body/0000000001");
  await must("kill", "--signal=KILL", id);
  await restarted();
  expect((await inside("ls /tmp/client-body/0000000001")).code).not.toBe(0);
});
