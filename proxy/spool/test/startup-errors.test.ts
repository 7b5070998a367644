import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { docker, label, must, restricted } from "../../../deploy/test/support/docker.ts";
import { build } from "../../../deploy/test/support/images.ts";
import { onVolume, startStack, waitUntil } from "./support/stack.ts";

const volume = `culvert-spool-${randomUUID().slice(0, 8)}`;
const mount = `--volume=${volume}:/var/lib/spool`;
const foreign = `${volume}-foreign`;
const stack = await startStack();
beforeAll(async () => {
  await must("volume", "create", label, volume);
  await must("network", "create", label, foreign);
});
afterAll(async () => {
  await stack.stop();
  await must("network", "rm", foreign);
  await must("volume", "rm", volume);
});

async function expectLine(line: RegExp, given = mount, ...env: string[]) {
  const run = ["run", "--rm", label, "--network=none", ...restricted, "--env=SENTRY_DSN=http://key@ingest:9000/7"];
  const { code, output } = await docker(...run, ...env, given, await build("spool"));
  expect(output.trim().split("\n")).toEqual([expect.stringMatching(line)]);
  expect(code).toBe(1);
}

const notWritable =
  /^culvert spool: \/var\/lib\/spool is not writable: mount a volume there that uid 1000 can write to$/;

test.each([
  ["SPOOL_MAX_AGE=soon", /^culvert spool: SPOOL_MAX_AGE 'soon' is not a duration: use a number and s, m, h, d or w/],
  [
    "INTERNAL_NETWORK=culvert_insid",
    /^culvert spool: INTERNAL_NETWORK 'culvert_insid' is no network of this container, or DNS does not answer: use the Docker network/,
  ],
])("%s stops the spool with one line", (setting, line) => expectLine(line, mount, `--env=${setting}`));
test.each([
  // Docker gives an empty volume the owner of the folder in the image.
  ["a folder of another user", "touch kept; chown 0:0 .", mount, notWritable],
  // SQLite reports a disk I/O error.
  ["a read-only volume with a database", "touch spool.db; chown 1000:1000 . spool.db", `${mount}:ro`, notWritable],
])("%s stops the spool with one line", async (_, line, given, expected) => {
  await onVolume(mount, line);
  await expectLine(expected, given);
});
test("another spool on the same folder stops the spool with one line", () =>
  expectLine(
    /^culvert spool: \/var\/lib\/spool is in use by another spool: give each spool a volume of its own$/,
    `--volume=${stack.id}:/var/lib/spool`,
  ));

test("containers outside INTERNAL_NETWORK get no answer, and the spool logs that", async () => {
  await stack.replaceSpool(`--env=INTERNAL_NETWORK=${stack.id}`);
  await stack.on("spool", "network", "connect", "--alias=spool", foreign);
  const ask = `fetch("http://spool:8082/healthz").then(({ status }) => status, () => "none").then(console.log)`;
  const run = ["run", "--rm", label, `--network=${foreign}`, await build("spool"), "node", "-e", ask];
  expect(await must(...run)).toBe("none");
  const line = new RegExp(
    `^culvert spool: closed a connection from \\S+, which is not in the network ${stack.id} `,
    "m",
  );
  await waitUntil(async () => line.test(await stack.logs()));
});
