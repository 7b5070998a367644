import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { label, must, type Outcome } from "../../../deploy/test/support/docker.ts";
import { runSpool } from "./support/run-spool.ts";
import { type Stack, startStack } from "./support/stack.ts";

const SENTRY_DSN = "http://key@ingest:9000/7";

function expectLine({ code, output }: Outcome, line: string | RegExp) {
  expect(output.trim().split("\n")).toEqual([
    typeof line === "string" ? `culvert spool: ${line}` : expect.stringMatching(line),
  ]);
  expect(code).toBe(1);
}

describe("an invalid setting or an unusable database stops the spool with one line", () => {
  const volume = `culvert-spool-${randomUUID().slice(0, 8)}`;
  const mount = (mode = "") => `--volume=${volume}:/var/lib/spool${mode}`;
  /** Runs a shell line as root on the volume. */
  const inside = (line: string) =>
    must(
      "run",
      "--rm",
      label,
      "--network=none",
      mount(),
      "node:24-trixie-slim",
      "sh",
      "-c",
      `cd /var/lib/spool; ${line}`,
    );
  let stack: Stack;
  beforeAll(async () => {
    await must("volume", "create", label, volume);
  });
  afterAll(async () => {
    await stack?.stop();
    await must("volume", "rm", volume);
  });

  test("an invalid setting", async () => {
    const fix = "use a number and s, m, h or d, such as 12h or 3d";
    expectLine(await runSpool({ SENTRY_DSN, SPOOL_MAX_AGE: "soon" }), `SPOOL_MAX_AGE 'soon' is not a duration: ${fix}`);
  });
  test("a folder of another user", async () => {
    // Docker gives an empty volume the owner of the folder in the image.
    await inside("touch kept; chown 0:0 .");
    const line = "/var/lib/spool is not writable: mount a volume there that uid 1000 can write to";
    expectLine(await runSpool({ SENTRY_DSN }, mount()), line);
    await inside("rm kept; chown 1000:1000 .");
  });
  test("a read-only volume", async () => {
    const line = "/var/lib/spool is not writable: mount a volume there that uid 1000 can write to";
    expectLine(await runSpool({ SENTRY_DSN }, mount(":ro")), line);
    // With a database in it, SQLite reports a disk I/O error.
    await inside("touch spool.db; chown 1000:1000 spool.db");
    expectLine(await runSpool({ SENTRY_DSN }, mount(":ro")), line);
    await inside("rm spool.db");
  });
  test("a damaged database", async () => {
    const line =
      /^culvert spool: \/var\/lib\/spool holds a damaged spool\.db \(.+\): move spool\.db and spool\.db-wal away and restart/;
    await inside("printf 'this is no database, but it is long enough to look at' > spool.db; chown 1000:1000 spool.db");
    expectLine(await runSpool({ SENTRY_DSN }, mount()), line);
    await inside("rm spool.db");
  });
  test("another spool on the same folder", async () => {
    stack = await startStack({}, { args: [mount()] });
    const line = "/var/lib/spool is in use by another spool: give each spool a volume of its own";
    expectLine(await runSpool({ SENTRY_DSN }, mount()), line);
  });
});
