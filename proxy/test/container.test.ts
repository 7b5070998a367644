import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { docker, hardened, label, must } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";
import { environmentOf } from "./testbed.ts";

const id = `culvert-proxy-test-${randomUUID().slice(0, 8)}`;
/** Underscores and dots are allowed in the name of a network. */
const [internal, other] = [`${id}.in_side`, `${id}-other`];
const SENTRY_DSN = "https://key@o1.ingest.sentry.io/2";

async function curl(network: string, path: string, ...args: string[]): Promise<string> {
  const request = ["-sS", "-m", "60", "-w", " %{http_code}", ...args, `http://proxy${path}`];
  return (await docker("exec", `${network}-client`, "curl", ...request)).output;
}

beforeAll(async () => {
  for (const network of [internal, other]) await must("network", "create", label, network);
  const settings = { SENTRY_DSN, TRUSTED_PROXIES: "0.0.0.0/0", INTERNAL_NETWORK: internal };
  const names = [`--name=${id}`, "--network-alias=proxy"];
  await must("create", label, ...names, `--network=${other}`, ...hardened, ...environmentOf(settings), await build());
  await must("network", "connect", "--alias=proxy", internal, id);
  await must("start", id);
  for (const network of [internal, other]) {
    const beside = [`--name=${network}-client`, `--network=${network}`, "--entrypoint=sleep"];
    await must("run", "-d", label, ...beside, await build(), "infinity");
  }
});
afterAll(async () => {
  await docker("rm", "-f", "-v", id, `${internal}-client`, `${other}-client`);
  for (const network of [internal, other]) await docker("network", "rm", network);
});

test("the inner ports answer addresses of that network, whatever a header says; what they refuse is no envelope of web's", async () => {
  await expect.poll(() => curl(internal, ":8081/healthz")).toBe("ok\n 200");
  const metrics = () => curl(internal, ":8081/metrics");
  const series = async () => (await metrics()).match(/^culvert_server_envelopes_total\{.*/gm) ?? [];
  const [counted = ""] = await series();
  expect(await curl(internal, ":8083/")).toMatch(/ 404$/);
  const refusal = "this port is for containers of the internal network (INTERNAL_NETWORK)\n 403";
  const forged = ["-H", "X-Forwarded-For: 127.0.0.1"];
  for (const path of [":8081/healthz", ":8081/metrics", ":8083/envelopes", ":8083/"])
    expect(await curl(other, path, ...forged), path).toBe(refusal);
  expect(await curl(other, ":8083/envelopes", ...forged, "-d", "{}")).toBe(refusal);
  expect(await curl(other, ":8080/")).toMatch(/ 421$/);
  await expect.poll(metrics).toContain('culvert_requests_total{route="proxy",class="4xx"}');
  // In a second attempt, one more than the first one had.
  const count = 1 + Number(counted.split(" ").at(-1));
  expect(await series()).toEqual([`culvert_server_envelopes_total{outcome="rejected",reason="path"} ${count}`]);
});

test("a killed worker ends the container, which says so; started again it answers, also after a kill of all processes", async () => {
  // Not in memory, which Docker empties at a restart: a pod's emptyDir outlives its containers.
  const options = [...hardened.filter((option) => !option.startsWith("--tmpfs=/tmp:")), "--volume=/tmp"];
  const settings = environmentOf({ SENTRY_DSN, WEB_UPSTREAM: "127.0.0.1:9" });
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
