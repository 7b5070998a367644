import { expect, test } from "vitest";
import { run } from "./run.ts";

/** The output of a command in a shell that has the functions of bake.sh. */
const shell = async (command: string) => (await run(["sh", "-c", `. deploy/host/bake.sh; ${command}`])).output.trim();

test.each([
  // failed, total, failed before, total before
  [[3, 3, 0, 3], "fine", "three requests a minute prove nothing"],
  [[9, 2000, 0, 2000], "fine", "nine failures prove nothing"],
  [[20, 1000, 20, 1000], "fine", "2 % as before"],
  [[45, 1000, 20, 1000], "fine", "chance"],
  [[60, 1000, 20, 1000], "bad", "6 % after 2 %"],
  [[30, 1000, 0, 1000], "bad", "3 % after none"],
  [[30, 10_000, 0, 10_000], "fine", "0.3 %"],
  [[20, 1000, 0, 0], "fine", "2 % after no requests to compare with"],
  [[100, 1000, 0, 0], "bad", "10 % after no requests"],
  [[1000, 1000, 600, 1000], "fine", "the release before was broken, too"],
])("%j requests are %s: %s", async (counts, expected) => {
  expect(await shell(`if too_many ${counts.join(" ")}; then echo bad; else echo fine; fi`)).toBe(expected);
});

test("without requests, the result says that nothing is known", async () => {
  expect(await shell("total=0; summary")).toBe("no requests came: nothing is known about the new release");
});

test("of the proxy's log, the 5xx of pages count, not those of the tunnel; an example has no control character", async () => {
  const log = [
    '{"request_id":"a1","path":"/x","status":503,"reason":"unreachable"}',
    '{"request_id":"a2","path":"/\u009b2J","status":504,"reason":"timeout"}',
    '{"request_id":"a3","path":"/\\"status\\":500,","status":404,"reason":""}',
    '{"request_id":"a4","route":"tunnel","outcome":"failed","status":503}',
    '{"request_id":"a5","path":"/","status":503,"reason":"overload"}',
  ];
  expect(await shell(`printf '%s\\n' '${log.join("' '")}' | count_requests`)).toBe("3 2 504 a2 /??2J");
});

test("no control character comes from a path: what a client sends as \\033[2J stays text", async () => {
  const line = String.raw`{"request_id":"a1","path":"/\\033[2J\"x","status":500,"reason":""}`;
  const count = "read -r total failed status request_id path";
  const script = `left_s=0 total_before=0 failed_before=0
    printf '%s\\n' '${line}' | count_requests | { ${count}; total=10 failed=10; error_problem; }`;
  expect(await shell(script)).toBe(
    String.raw`10 of the last 10 requests got a 5xx (100.0 %; before this release no requests), such as /\\033[2J\"x (500, request id a1); see 'docker compose logs web'`,
  );
});

test("if the proxy's log cannot be read, the result says so", async () => {
  const script = "proxy=no-such-container; total=$(requests 1s | cut -d ' ' -f 1); error_problem; summary";
  expect(await shell(script)).toBe("the proxy's log cannot be read: the release was not watched");
});

test.each([
  [{ BAKE_TIME_S: "1m" }, "culvert: BAKE_TIME_S: '1m' is not a number of seconds: use one from 1 to 9999, or off"],
  [{ BAKE_TIME_S: "090" }, "culvert: BAKE_TIME_S: '090' is not a number of seconds: use one from 1 to 9999, or off"],
  [
    { ROLLBACK_ON_ERRORS: "yes" },
    "culvert: ROLLBACK_ON_ERRORS: 'yes' is neither on nor off: use on to undo a release that answers with 5xx",
  ],
])("%j is rejected", async (settings, line) => {
  const check = "root=$PWD; for file in lib settings bake; do . deploy/host/$file.sh; done; check_bake_settings";
  expect(await run(["sh", "-c", check], settings)).toEqual({ code: 1, output: `${line}\n` });
});
