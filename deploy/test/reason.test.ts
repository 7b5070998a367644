import { expect, test } from "vitest";
import { run, withDocker } from "./run.ts";

/** STATE has status, OOMKilled, exit code and health. */
const client = withDocker(`
  case "$*" in *Health.Log*) echo "$SAID" ;; *RestartCount*) ;; inspect*) echo "$STATE" ;; events*) echo "$EVENTS" ;; logs*) echo "$LOG" ;; esac`);
const unhealthy = "running false 0 unhealthy";
const crash = "Error: no database\n    at x (y)\nNode.js v24";
const refused = "GET /: connect ECONNREFUSED 1.2.3.4:3000";
const elsewhere = `${refused}, but localhost:3000 listens`;
const lowMemory = "out of memory, or killed: raise its mem_limit (docs/operations.md)";

test.each<[string, STATE: string, more: Partial<Record<"SAID" | "EVENTS" | "LOG", string>>, line: string]>([
  ["no memory", "exited true 137", { LOG: "ready" }, lowMemory],
  ["no memory, and runs again", "running false 0 healthy", { EVENTS: "oom <no value>\ndie 137\ndie 1" }, lowMemory],
  ["killed, and runs again", "running false 0 starting", { EVENTS: "die 1\ndie 137" }, lowMemory],
  ["an error", "restarting false 1", { EVENTS: "die 1", LOG: crash }, "Error: no database"],
  ["an invalid setting", "exited false 1", { LOG: "culvert proxy: HSTS_MAX_AGE 'x' is" }, "HSTS_MAX_AGE 'x' is"],
  ["silence", "exited false 3", {}, "exit status 3, and its log is empty"],
  ["a crash after a good check", unhealthy, { SAID: "GET /: status 200", LOG: "boom" }, "boom"],
  ["a bad answer", unhealthy, { SAID: "GET /: status 500" }, "GET /: status 500: see 'docker compose"],
  ["another port", unhealthy, { SAID: refused }, `${refused}: nothing listens on port 3000: see`],
  ["another address", unhealthy, { SAID: elsewhere }, `${elsewhere}: the app must listen on port 3000`],
])("make up, check-app and doctor say of a container with %s why", async (_, STATE, more, line) => {
  const said = { STATE, ...{ SAID: "", EVENTS: "", LOG: "" }, ...more, ...client };
  const { output } = await run(["sh", "-euc", ". deploy/lib.sh; reason x"], said);
  expect(output.slice(0, line.length)).toBe(line);
  expect(output.trim().split("\n")).toHaveLength(1);
});
