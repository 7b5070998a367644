import { expect, test } from "vitest";
import { run, withDocker } from "./run.ts";

/** A docker client that says this of a container: its state (status, OOMKilled, exit code, health), health check, engine's events and log. */
const client = withDocker(`
  case "$*" in *Health.Log*) echo "$SAID" ;; *RestartCount*) ;; inspect*) echo "$STATE" ;; events*) echo "$EVENTS" ;; logs*) echo "$LOG" ;; esac`);

test.each<[string, Record<"STATE" | "SAID" | "EVENTS" | "LOG", string> | object, string]>([
  [
    "no memory",
    { STATE: "exited true 137", LOG: "ready" },
    "out of memory, or killed: raise its mem_limit (docs/operations.md)",
  ],
  [
    "no memory, and runs again",
    { STATE: "running false 0 healthy", EVENTS: "oom <no value>\ndie 137\ndie 1" },
    "out of memory,",
  ],
  ["killed, and runs again", { STATE: "running false 0 starting", EVENTS: "die 1\ndie 137" }, "out of memory,"],
  [
    "an error",
    { STATE: "restarting false 1", EVENTS: "die 1", LOG: "Error: no database\n    at x (y)\nNode.js v24" },
    "Error: no database",
  ],
  ["an invalid setting", { STATE: "exited false 1", LOG: "culvert proxy: HSTS_MAX_AGE 'x' is" }, "HSTS_MAX_AGE 'x' is"],
  ["silence", { STATE: "exited false 3" }, "exit status 3, and its log is empty"],
  [
    "a crash after a good check",
    { STATE: "running false 0 unhealthy", SAID: "GET /: status 200", LOG: "boom" },
    "boom",
  ],
  [
    "a bad answer",
    { STATE: "running false 0 unhealthy", SAID: "GET /: status 500" },
    "GET /: status 500: see 'docker compose logs web', or",
  ],
  [
    "another address",
    { STATE: "running false 0 unhealthy", SAID: "GET /: connect ECONNREFUSED 1.2.3.4" },
    "GET /: connect ECONNREFUSED 1.2.3.4: the app must listen on port 3000",
  ],
])("make up, check-app and doctor say of a container with %s why", async (_, said, line) => {
  const { output } = await run(["sh", "-euc", ". deploy/lib.sh; reason x"], {
    SAID: "",
    EVENTS: "",
    LOG: "",
    ...said,
    ...client,
  });
  expect(output.slice(0, line.length)).toBe(line);
  expect(output.trim().split("\n")).toHaveLength(1);
});
