import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { docker, label, must, restricted } from "../../../deploy/test/support/docker.ts";
import { build } from "../../../deploy/test/support/images.ts";
import { runSpool } from "./support/run-spool.ts";

const id = `culvert-spool-${randomUUID().slice(0, 8)}`;
const internal = `${id}_inside`;
const other = `${id}-other`;

/** Requests the spool's health from a container on the network, every second until it answers or `seconds` are over; the status, or "none". */
async function health(network: string, seconds = 0, ...options: string[]): Promise<string> {
  const script = `(async () => {
    for (let second = 0; ; second++) {
      const status = await fetch("http://spool:8082/healthz").then((response) => response.status, () => "none");
      if (status !== "none" || second >= ${seconds}) return console.log(status);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  })()`;
  const args = [label, `--network=${network}`, ...options, await build("spool"), "node", "-e", script];
  return (await docker("run", "--rm", ...args)).output.trim();
}

beforeAll(async () => {
  for (const network of [internal, other]) await must("network", "create", label, network);
  const settings = ["SENTRY_DSN=http://key@ingest/1", `INTERNAL_NETWORK=${internal}`].map((one) => `--env=${one}`);
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
  expect(await health(internal, 60)).toBe("200");
  expect(await health(other)).toBe("none");
  expect(await must("logs", id)).toMatch(
    /^culvert spool: closed a connection from \S+, which is not in the network \S+_inside /m,
  );
});

test("a network that is not the container's stops the spool with one line", async () => {
  const { code, output } = await runSpool({ SENTRY_DSN: "http://key@ingest/1", INTERNAL_NETWORK: "culvert_insid" });
  expect([code, output.trim()]).toEqual([
    1,
    "culvert spool: INTERNAL_NETWORK 'culvert_insid' is no network of this container, or DNS does not answer: use the Docker network that proxy, web and spool share, such as culvert_inside",
  ]);
});
