import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Result } from "../../doctor/result.ts";
import { must, run } from "../run.ts";

// Vitest sets BASE_URL for its own purposes.
const doctor = (argument: string, environment: Record<string, string> = {}) =>
  run(["sh", "deploy/doctor/doctor.sh", argument], { BASE_URL: "", ...environment });
const parse = (output: string): { failed: number; checks: Result[] } => JSON.parse(output);

test("the running stack, with nothing but its containers: what was planted is named, and nothing else of what is asked here", async () => {
  // A name that nothing reads, and a setting that the containers were not started with.
  const file = join(mkdtempSync(join(tmpdir(), "culvert-")), "env");
  writeFileSync(file, "TUNNEL_PAHT=/x\n");
  const { code, output } = await doctor("--json", { COMPOSE_ENV_FILES: file, TUNNEL_CLIENT_IP: "withhold" });
  const { failed, checks } = parse(output);
  const states = Object.fromEntries(checks.map(({ check, state }) => [check, state]));
  expect(states).toMatchObject({
    ...{ web: "ok", disk: expect.anything(), settings: "failed", applied: "failed", spool: expect.anything() },
    ...{ ingest: "ok", tunnel: "ok", "server tunnel": "ok", envelopes: "ok", page: "ok" },
    // A development certificate for this machine alone.
    certificate: "unknown",
  });
  const found = Object.fromEntries(checks.map(({ check, found }) => [check, found]));
  expect(found.settings).toContain("TUNNEL_PAHT");
  expect(found.applied).toContain("TUNNEL_CLIENT_IP (proxy)");
  expect(failed).toBeGreaterThanOrEqual(2);
  expect(code).toBe(1);
});

test("a container that ends again and again: its last line is all that is said, without the password in it", async () => {
  const environment = { COMPOSE_FILE: `${process.env.COMPOSE_FILE}:deploy/test/doctor/crash.compose.yml` };
  const compose = (...command: string[]) => must(["docker", "compose", ...command], environment);
  onTestFinished(() => compose("rm", "--stop", "--force", "crashing").then(() => {}));
  await compose("up", "--detach", "--no-deps", "crashing");
  const restarts = async () =>
    must(["docker", "inspect", "--format", "{{.RestartCount}}", await compose("ps", "--all", "--quiet", "crashing")]);
  await expect.poll(async () => Number(await restarts())).toBeGreaterThan(0);
  const { output, code } = await doctor("", environment);
  expect(output.trim()).toMatch(
    /^✗ crashing +restarted \(\d+×\): Error: no answer from postgres:\/\/•••@db\/shop: docker logs .*$/,
  );
  expect(code).toBe(1);
});

test("the same address from outside", async () => {
  const { output } = await doctor("--json", { BASE_URL: `https://localhost:${process.env.HTTPS_PORT}` });
  const { checks } = parse(output);
  expect(checks.filter(({ state }) => state === "failed")).toEqual([]);
  expect(checks.find(({ check }) => check === "tunnel")?.found).toMatch(/ accepted a probe envelope$/);
});

test("from outside, the tunnel's path may be in .env, and an address that is none is named", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "culvert-")), "env");
  writeFileSync(file, "TUNNEL_PATH=/k7f2a9\n");
  const command = ["env", "-u", "TUNNEL_PATH", `COMPOSE_ENV_FILES=${file}`, "sh", "deploy/doctor/doctor.sh"];
  const { output } = await run(command, { BASE_URL: `https://localhost:${process.env.HTTPS_PORT}` });
  expect(output).toMatch(/^✗ tunnel +\/k7f2a9 answers 4/m);
  const invalid = await run(command, { BASE_URL: "localhost" });
  expect(invalid.output).toMatch(/^✗ BASE_URL +'localhost' is not an https address/);
  expect(invalid.code).toBe(1);
});

test("make status names every container", async () => {
  const { code, output } = await run(["sh", "deploy/doctor/status.sh"]);
  expect(output).toMatch(/^certificate +until 20\d\d-/m);
  expect(output).toMatch(/^envelopes .* [1-9]\d* accepted/m);
  expect(output).toMatch(/^next +\d+\.\S+, node v2\d/m);
  for (const service of ["proxy", "web", "spool"])
    expect(output).toMatch(new RegExp(`^${service} .*\\(healthy\\)`, "m"));
  expect(output).toMatch(/-web:.* built 20\d\d-/);
  expect(code).toBe(0);
});

test("without a stack there is one line that says so", async () => {
  const { code, output } = await doctor("", { COMPOSE_PROJECT_NAME: "culvert-no-such-stack" });
  expect(output.trim()).toMatch(/^culvert: the stack is not running: start it first \(make up\)/);
  expect(code).toBe(1);
});
