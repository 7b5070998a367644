import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { docker, hardened, label, must } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";

const id = `culvert-proxy-test-${randomUUID().slice(0, 8)}`;
/** Underscores and dots are allowed in the name of a network. */
const [internal, other] = [`${id}.in_side`, `${id}-other`];
const SENTRY_DSN = "https://key@o1.ingest.sentry.io/2";

/** Runs curl in the container beside the proxy in one of its networks; returns the body and the status. */
async function curl(network: string, path: string, ...args: string[]): Promise<string> {
  const request = ["-sS", "-m", "5", "-w", " %{http_code}", ...args, `http://proxy${path}`];
  return (await docker("exec", `${network}-client`, "curl", ...request)).output;
}

beforeAll(async () => {
  for (const network of [internal, other]) await must("network", "create", label, network);
  // Everyone is trusted to report the client IP.
  const settings = { SENTRY_DSN, TRUSTED_PROXIES: "0.0.0.0/0", INTERNAL_NETWORK: internal };
  const environment = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
  const names = [`--name=${id}`, "--network-alias=proxy"];
  await must("create", label, ...names, `--network=${other}`, ...hardened, ...environment, await build());
  await must("network", "connect", "--alias=proxy", internal, id);
  await must("start", id);
  for (const network of [internal, other]) {
    const beside = [`--name=${network}-client`, `--network=${network}`, "--entrypoint=sleep"];
    await must("run", "-d", label, ...beside, await build(), "600");
  }
});
afterAll(async () => {
  await docker("rm", "-f", "-v", id, `${internal}-client`, `${other}-client`);
  for (const network of [internal, other]) await docker("network", "rm", network);
});

test("the inner ports answer addresses of that network, whatever a header says; what they refuse is no envelope of web's", async () => {
  await expect.poll(() => curl(internal, ":8081/healthz")).toBe("ok\n 200");
  expect(await curl(internal, ":8083/")).toMatch(/ 404$/);
  const refusal = "this port is for containers of the internal network (INTERNAL_NETWORK)\n 403";
  const forged = ["-H", "X-Forwarded-For: 127.0.0.1"];
  for (const path of [":8081/healthz", ":8081/metrics", ":8083/envelopes", ":8083/"])
    expect(await curl(other, path, ...forged), path).toBe(refusal);
  expect(await curl(other, ":8083/envelopes", ...forged, "-d", "{}")).toBe(refusal);
  expect(await curl(other, ":8080/")).toMatch(/ 421$/);
  const metrics = await curl(internal, ":8081/metrics");
  expect(metrics).toContain('culvert_requests_total{route="proxy",class="4xx"}');
  expect(metrics.match(/^culvert_server_envelopes_total\{.*/gm)).toEqual([
    'culvert_server_envelopes_total{outcome="rejected",reason="path"} 1',
  ]);
});

test("a network that is not the container's stops it with one line", async () => {
  const settings = [`--env=SENTRY_DSN=${SENTRY_DSN}`, "--env=INTERNAL_NETWORK=culvert_insid"];
  const options = ["--rm", label, "--network=none", ...hardened, ...settings];
  const { code, output } = await docker("run", ...options, await build());
  expect([code, output.trim().split("\n").at(-1)]).toEqual([
    1,
    "culvert proxy: INTERNAL_NETWORK 'culvert_insid' is no network of this container, or DNS does not answer: use the Docker network that proxy, web and spool share, such as culvert_inside",
  ]);
});
