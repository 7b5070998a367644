import { expect, onTestFinished, test } from "vitest";
import type { Result } from "../../checks/result.ts";
import { must, run, temporary, withDocker, withServices } from "../run.ts";

// Vitest sets BASE_URL for its own purposes.
const doctor = (environment: Record<string, string> = {}, ...options: string[]) =>
  run(["sh", "deploy/checks/host/doctor.sh", ...options], { BASE_URL: "", ...environment });
async function checks(environment: Record<string, string>) {
  const { code, output } = await doctor(environment, "--json");
  const all: Result[] = JSON.parse(output).checks;
  const by = (key: "state" | "found") => Object.fromEntries(all.map((one) => [one.check, one[key]]));
  return { code, states: by("state"), found: by("found") };
}
const BASE_URL = `https://localhost:${process.env.HTTPS_PORT}`;

test("the running stack: what was planted is named, and nothing else", async () => {
  // A name that nothing reads, and a setting that the containers were not started with.
  const COMPOSE_ENV_FILES = `${temporary("env", "TUNNEL_PAHT=/x\n")},/dev/null`;
  const planted = () => checks({ COMPOSE_ENV_FILES, TUNNEL_CLIENT_IP: "withhold" });
  // While other tests start containers, a request inside the stack may fail.
  await expect
    .poll(async () => (await planted()).states)
    .toMatchObject({
      web: "ok",
      disk: expect.anything(),
      settings: "failed",
      applied: "failed",
      spool: expect.anything(),
      ingest: "ok",
      tunnel: "ok",
      "server tunnel": "ok",
      envelopes: "ok",
      page: "ok",
      // A development certificate for this machine alone.
      certificate: "warning",
    });
  const { code, found } = await planted();
  expect([code, found.settings]).toEqual([1, expect.stringContaining("TUNNEL_PAHT")]);
  expect(found.applied).toContain("TUNNEL_CLIENT_IP (proxy)");
});

test("a container that ends again and again: its last line is said, without the password in it", async () => {
  // To standard error only: docker may swap lines that a container writes to both outputs within a millisecond.
  const command = `[node, -e, "throw Error('no answer from postgres://me:hunter22@db/shop')"]`;
  const service = `{ image: node:24-trixie-slim, command: ${command}, network_mode: none, restart: always }`;
  const environment = withServices(`crashing: ${service}`);
  const compose = (...command: string[]) => must(["docker", "compose", ...command], environment);
  onTestFinished(() => compose("rm", "--stop", "--force", "crashing").then(() => {}));
  await compose("up", "--detach", "--no-deps", "crashing");
  const id = await compose("ps", "--all", "--quiet", "crashing");
  await expect.poll(() => must(["docker", "inspect", "--format", "{{.RestartCount}}", id])).not.toBe("0");
  const { code, output } = await doctor(environment);
  const line = /^✗ crashing +restarted \(\d+×\): Error: no answer from postgres:\/\/•••@db\/shop: docker logs .*$/;
  expect([code, output.split("\n")]).toEqual([1, [expect.stringMatching(line), "culvert: 1 of the checks failed", ""]]);
});

test("make up ends with what is wrong with the ingest", async () => {
  // The containers run with another DSN.
  const dsn = "sed 's#SENTRY_DSN=http://culvert@recorder:9000#SENTRY_DSN=http://culvert@no-such-host.invalid#'";
  const docker = `case "$*" in inspect*) $client "$@" | ${dsn} ;; *) exec $client "$@" ;; esac`;
  const { output } = await doctor(withDocker(docker), "--brief");
  expect(output.trim()).toMatch(/^✗ ingest +no-such-host\.invalid does not resolve: [^\n]*$/);
});

test("the same address from outside; an address that is none is named", async () => {
  const { code: status, found } = await checks({ BASE_URL });
  expect([status, found.tunnel]).toEqual([0, expect.stringMatching(/ accepted a probe envelope$/)]);
  const COMPOSE_ENV_FILES = temporary("env", "TUNNEL_PATH=/k7f2a9\n");
  const command = ["env", "-u", "TUNNEL_PATH", "sh", "deploy/checks/host/doctor.sh"];
  expect((await run(command, { BASE_URL, COMPOSE_ENV_FILES })).output).toMatch(/^✗ tunnel +\/k7f2a9 answers 4/m);
  const { code, output } = await run(command, { BASE_URL: "localhost", COMPOSE_ENV_FILES });
  expect([code, output]).toEqual([1, expect.stringMatching(/^✗ BASE_URL +'localhost' is not an https address/)]);
});

test("without a stack there is one line that says so", async () => {
  const { code, output } = await doctor({ COMPOSE_PROJECT_NAME: "culvert-no-such-stack" });
  const line = /^culvert: the stack is not running: start it first \(make up\)/;
  expect([code, output]).toEqual([1, expect.stringMatching(line)]);
});
