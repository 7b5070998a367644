import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { label, must } from "../../../deploy/test/support/docker.ts";
import { onVolume, runSpool } from "./support/run-spool.ts";
import { type Stack, startStack } from "./support/stack.ts";

const SENTRY_DSN = "http://key@ingest:9000/7";
const volume = `culvert-spool-${randomUUID().slice(0, 8)}`;
const mount = `--volume=${volume}:/var/lib/spool`;
let stack: Stack;
beforeAll(() => must("volume", "create", label, volume));
afterAll(async () => {
  await stack?.stop();
  await must("volume", "rm", volume);
});

async function expectLine(line: RegExp, given = mount, settings = {}) {
  const { code, output } = await runSpool({ SENTRY_DSN, ...settings }, given);
  expect(output.trim().split("\n")).toEqual([expect.stringMatching(line)]);
  expect(code).toBe(1);
}

const notWritable =
  /^culvert spool: \/var\/lib\/spool is not writable: mount a volume there that uid 1000 can write to$/;
const damaged =
  /^culvert spool: \/var\/lib\/spool holds a damaged spool\.db \(.+\): move spool\.db and spool\.db-wal away and restart/;

test("an invalid setting stops the spool with one line", () =>
  expectLine(/^culvert spool: SPOOL_MAX_AGE 'soon' is not a duration: use a number and s, m, h or d/, mount, {
    SPOOL_MAX_AGE: "soon",
  }));
test.each([
  // Docker gives an empty volume the owner of the folder in the image.
  ["a folder of another user", "touch kept; chown 0:0 .", mount, notWritable],
  ["a read-only volume", "rm kept; chown 1000:1000 .", `${mount}:ro`, notWritable],
  // SQLite reports a disk I/O error.
  ["a read-only volume with a database", "touch spool.db; chown 1000:1000 spool.db", `${mount}:ro`, notWritable],
  ["a damaged database", "printf 'no database, but long enough to look at' > spool.db", mount, damaged],
])("%s stops the spool with one line", async (_, line, given, expected) => {
  await onVolume(mount, line);
  await expectLine(expected, given);
});
test("another spool on the same folder stops the spool with one line", async () => {
  await onVolume(mount, "rm spool.db");
  stack = await startStack({}, { args: [mount] });
  await expectLine(
    /^culvert spool: \/var\/lib\/spool is in use by another spool: give each spool a volume of its own$/,
  );
});
