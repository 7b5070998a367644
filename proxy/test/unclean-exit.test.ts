import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { docker, label, must, restricted } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";

const name = `culvert-unclean-${randomUUID().slice(0, 8)}`;
/** A file that a request left when its worker was killed. */
const leftover = "/tmp/client-body/0000000001";

const inside = (...command: string[]) => docker("exec", name, ...command);
const healthy = async () => (await inside("curl", "-sS", "http://127.0.0.1:8081/healthz")).output === "ok\n";

beforeAll(async () => {
  const image = await build();
  await must("volume", "create", label, name);
  // Not in memory, which Docker empties at a restart: a pod's emptyDir outlives its containers.
  const volume = `--volume=${name}:/tmp:nocopy`;
  await must(
    ...["run", "--rm", label, "--network=none", "--user=0:0", "--entrypoint=sh", volume, image, "-ec"],
    "mkdir /tmp/envelopes; chmod 777 /tmp /tmp/envelopes",
  );
  const settings = ["--env=SENTRY_DSN=http://key@127.0.0.1:9/7", "--env=WEB_UPSTREAM=127.0.0.1:9"];
  await must("run", "-d", label, "--network=none", `--name=${name}`, ...restricted, volume, ...settings, image);
});
afterAll(async () => {
  await docker("rm", "-f", "-v", name);
  await docker("volume", "rm", name);
});

test("a proxy that was killed starts again on the same /tmp, and leaves nothing there of what was cut off", async () => {
  await expect.poll(healthy).toBe(true);
  await must("exec", name, "touch", leftover);
  // SIGKILL of the process with id 1: the master, and with it every process of the container.
  await must("kill", "--signal=KILL", name);
  await must("wait", name);
  await must("start", name);
  await expect.poll(healthy).toBe(true);
  expect((await inside("ls", leftover)).code).not.toBe(0);
});
