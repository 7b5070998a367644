import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { docker, label, must, restricted } from "../../../deploy/test/support/docker.ts";
import { build } from "../../../deploy/test/support/images.ts";
import { runSpool } from "./support/run-spool.ts";
import { waitUntil } from "./support/wait.ts";

const id = `culvert-spool-${randomUUID().slice(0, 8)}`;
const internal = `${id}_inside`;
const other = `${id}-other`;
const SENTRY_DSN = "http://key@ingest/1";

/** Requests the spool's health from a container on the network; the status, or "none". */
async function health(network: string): Promise<string> {
  const script = `fetch("http://spool:8082/healthz").then(({ status }) => status, () => "none").then(console.log)`;
  return must("run", "--rm", label, `--network=${network}`, await build("spool"), "node", "-e", script);
}

beforeAll(async () => {
  for (const network of [internal, other]) await must("network", "create", label, network);
  const settings = [`--env=SENTRY_DSN=${SENTRY_DSN}`, `--env=INTERNAL_NETWORK=${internal}`];
  const names = [`--name=${id}`, "--network-alias=spool"];
  await must("create", label, ...names, `--network=${other}`, ...restricted, ...settings, await build("spool"));
  await must("network", "connect", "--alias=spool", internal, id);
  await must("start", id);
});
afterAll(async () => {
  await docker("rm", "-f", "-v", id);
  for (const network of [internal, other]) await docker("network", "rm", network);
});

test("the spool answers containers of its internal network, closes the connections of others, and logs that", async () => {
  await waitUntil(async () => (await must("logs", id)).includes("ready on port"));
  expect(await health(internal)).toBe("200");
  expect(await health(other)).toBe("none");
  expect(await must("logs", id)).toMatch(
    /^culvert spool: closed a connection from \S+, which is not in the network \S+_inside /m,
  );
});

test("a network that is not the container's stops the spool with one line", async () => {
  const { code, output } = await runSpool({ SENTRY_DSN, INTERNAL_NETWORK: "culvert_insid" });
  expect([code, output.trim()]).toEqual([
    1,
    "culvert spool: INTERNAL_NETWORK 'culvert_insid' is no network of this container, or DNS does not answer: use the Docker network that proxy, web and spool share, such as culvert_inside",
  ]);
});
