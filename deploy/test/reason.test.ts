import { expect, test } from "vitest";
import { run, temporary, withDocker } from "./run.ts";

/** STATE has status, OOMKilled, exit code, when it was restarted, and health; STATES a line for each question by `state`. */
const client = withDocker(`
  case "$*" in
    *RestartCount*) printf '%s\\n' "$STATE" "$ERROR" "$CHECKED" ;;
    inspect*) head -n 1 "$STATES"; sed -i 1d "$STATES" ;;
    events*) echo "$EVENTS" ;;
    logs*) echo "$LOG" ;;
  esac`);
const silent = { STATE: "", ERROR: "", CHECKED: "", EVENTS: "", LOG: "", STATES: "/dev/null" };
const lib = (command: string, said: Partial<typeof silent>) =>
  run(["sh", "-euc", `. deploy/lib.sh; ${command} x`], { ...silent, ...said, ...client });

const created = "created false 0 -";
const unhealthy = "running false 0 - unhealthy";
const crash = "Error: no database\n    at x (y)\nNode.js v24";
const memory = "memory out of memory, or killed: raise its mem_limit (docs/operations.md)";

// What does not listen, or at another address, and a port that is taken: deploy-failures.test.ts.
test.each([
  { STATE: "exited true 137 -", LOG: "ready", line: memory },
  {
    STATE: "running false 0 - healthy",
    EVENTS: "oom <no value>\ndie 1",
    line: memory,
  },
  { STATE: "running false 0 - starting", EVENTS: "die 1\ndie 137", line: memory },
  { STATE: "restarting false 1 -", EVENTS: "die 1", LOG: crash, line: "log Error: no database" },
  { STATE: "exited false 1 -", LOG: "culvert proxy: HSTS_MAX_AGE 'x'", line: "log HSTS_MAX_AGE 'x'" },
  { STATE: "exited false 3 -", line: "silent exit status 3, and its log is empty" },
  { STATE: unhealthy, CHECKED: "http-ok GET /: status 200", LOG: "boom", line: "log boom" },
  {
    STATE: unhealthy,
    CHECKED: "http-error GET /: status 500",
    line: "http-error GET /: status 500: see 'docker compose logs web', or set HEALTH_PATH to a path that answers below 500",
  },
  {
    STATE: unhealthy,
    CHECKED: "slow GET /: none",
    line: "slow GET /: none: see 'docker compose logs web'",
  },
  { STATE: unhealthy, CHECKED: "cannot read /x", line: "check cannot read /x" },
  { STATE: created, ERROR: "no such device", line: "start-failed no such device" },
  { STATE: created, line: "not-started its container was made, but not started" },
])("the reason is $line", async ({ line, ...said }) => {
  const { output } = await lib("diagnose", said);
  expect(output.slice(0, line.length)).toBe(line);
  expect(output.trim().split("\n")).toHaveLength(1);
});

test.each([
  { of: "cannot start", states: ["created  no such device"], ends: [1, "no such device\n"] },
  { of: "has ended", states: ["running starting", "exited unhealthy"], ends: [1, "no such device\n"] },
])("a container that $of is not waited for", async ({ states, ends }) => {
  const said = { STATES: temporary("states", states.join("\n")), STATE: created, ERROR: "no such device" };
  const { code, output } = await lib("wait_until_healthy", said);
  expect([code, output]).toEqual(ends);
});
