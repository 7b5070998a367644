import { expect, test } from "vitest";
import { lastLine, must, run } from "./run.ts";

// Runs against the stack that deploy/test/run.sh started, with REGION in its environment (stack.sh).
const containers = () => must(["docker", "compose", "ps", "-q", "web", "proxy", "spool"]);

test.each(["up", "rollback"])("%s is refused without a setting that was typed for the start alone", async (script) => {
  const before = await containers();
  const { code, output } = await run(["env", "-u", "REGION", "sh", `deploy/host/${script}.sh`]);
  expect([code, lastLine(output)]).toEqual([
    1,
    expect.stringMatching(/^culvert: REGION: set for the running containers, /),
  ]);
  expect(output).not.toContain("test-1");
  expect(await containers()).toBe(before);
});

test("it may be dropped on purpose, and what is set still is no obstacle", async () => {
  const check = ["sh", "deploy/host/same-settings.sh"];
  expect(await run(check)).toEqual({ code: 0, output: "" });
  expect(await run(check, { REGION: "" })).toEqual({ code: 0, output: "" });
});
