import { expect, onTestFinished, test } from "vitest";
import { docker, hardened, label, must } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";
import { useProxy } from "./use-proxy.ts";

const shared = useProxy();

test("a killed worker ends the container, which says so; started again it answers, whatever was counted before", async () => {
  const { proxy } = shared;
  const workers = "grep -l '^nginx: worker' /proc/[0-9]*/cmdline | cut -d/ -f3";
  const kill = `${workers} | while read -r pid; do kill -9 $pid && echo killed; done`;
  const killed = (await proxy.inside(kill)).match(/killed/g)?.length;
  expect(killed).toBeGreaterThan(0);
  await expect.poll(() => proxy.on("proxy", "inspect", "--format={{.State.Running}}")).toBe("false");
  const log = await proxy.log();
  expect(log.match(/worker process \d+ exited on signal 9/g)).toHaveLength(killed ?? 0);
  expect(log).toContain("culvert proxy: a worker of Nginx has died: the container ends, to start again");
  await proxy.restart("proxy");
  expect((await shared.through()).answer.status).toBe(200);
});

test("a killed proxy starts again on the same /tmp, and leaves nothing there of what was cut off", async () => {
  // Not in memory, which Docker empties at a restart: a pod's emptyDir outlives its containers.
  const options = [...hardened.filter((option) => !option.startsWith("--tmpfs=/tmp:")), "--volume=/tmp"];
  const settings = ["--env=SENTRY_DSN=http://key@127.0.0.1:9/7", "--env=WEB_UPSTREAM=127.0.0.1:9"];
  const id = await must("run", "-d", label, "--network=none", ...options, ...settings, await build());
  onTestFinished(() => docker("rm", "-f", "-v", id).then(() => undefined));
  const inside = (...command: string[]) => docker("exec", id, ...command);
  const healthy = async () => (await inside("curl", "-sS", "http://127.0.0.1:8081/healthz")).output === "ok\n";
  await expect.poll(healthy).toBe(true);
  // A file that a request left when its worker was killed.
  const leftover = "/tmp/client-body/0000000001";
  await must("exec", id, "touch", leftover);
  // SIGKILL of the process with id 1: the master, and with it every process of the container.
  await must("kill", "--signal=KILL", id);
  await must("wait", id);
  await must("start", id);
  await expect.poll(healthy).toBe(true);
  expect((await inside("ls", leftover)).code).not.toBe(0);
});
