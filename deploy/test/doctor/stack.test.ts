import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import type { Result } from "../../checks/result.ts";
import { composeWith, doctor, must, temporary, withDocker, withServices } from "../run.ts";

// Doctor is polled below: other tests start containers, also in this stack, and a request inside it may fail meanwhile.
async function checks(environment: Record<string, string>) {
  const started = temporary("started", "");
  const counting = withDocker(`echo >>${started}; exec $client "$@"`);
  const { code, output } = await doctor({ ...counting, ...environment }, "--json");
  // Of docker processes.
  expect(readFileSync(started, "utf8").length).toBeLessThanOrEqual(20);
  const all: Result[] = JSON.parse(output).checks;
  const by = (key: "state" | "found") => Object.fromEntries(all.map((result) => [result.check, result[key]]));
  return { code, states: by("state"), found: by("found") };
}
const BASE_URL = `https://localhost:${process.env.HTTPS_PORT}`;

test("the running stack: what was planted is named, and nothing else", async () => {
  // A name that nothing reads, and a setting that the containers were not started with.
  const COMPOSE_ENV_FILES = `${temporary("env", "TUNNEL_PAHT=/x\n")},/dev/null`;
  const planted = () => checks({ COMPOSE_ENV_FILES, TUNNEL_CLIENT_IP: "withhold" });
  const states = {
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
  };
  const [settings, applied] = ["TUNNEL_PAHT", "TUNNEL_CLIENT_IP (proxy)"].map((text) => expect.stringContaining(text));
  await expect.poll(planted).toMatchObject({ code: 1, states, found: { settings, applied } });
});

test("a container that ends again and again: its last line is said, without the password in it", async () => {
  // To standard error only: docker may swap lines that a container writes to both outputs within a millisecond.
  const command = `[node, -e, "throw Error('no answer from postgres://me:hunter22@db/shop')"]`;
  const service = `{ image: node:24-trixie-slim, command: ${command}, network_mode: none, restart: always }`;
  const environment = withServices(`crashing: ${service}`);
  const compose = composeWith(environment);
  onTestFinished(() => compose("rm", "--stop", "--force", "crashing").then(() => {}));
  await compose("up", "--detach", "--no-deps", "crashing");
  const id = await compose("ps", "--all", "--quiet", "crashing");
  await expect.poll(() => must(["docker", "inspect", "--format", "{{.RestartCount}}", id])).not.toBe("0");
  const line = "✗ crashing +restarted \\(\\d+×\\): Error: no answer from postgres://•••@db/shop: docker logs .*";
  const output = expect.stringMatching(`^${line}\nculvert: 1 of the checks failed\n$`);
  await expect.poll(() => doctor(environment)).toEqual({ code: 1, output });
});

test("make up ends with what is wrong with the ingest", async () => {
  // The containers run with another DSN.
  const dsn = "sed 's#SENTRY_DSN=http://culvert@recorder:9000#SENTRY_DSN=http://culvert@no-such-host.invalid#'";
  const docker = `case "$*" in inspect*) $client "$@" | ${dsn} ;; *) exec $client "$@" ;; esac`;
  const brief = async () => (await doctor(withDocker(docker), "--brief")).output;
  await expect.poll(brief).toMatch(/^✗ ingest +no-such-host\.invalid does not resolve: .*\n$/);
});

test("the same address from outside; an address that is none is named", async () => {
  const states = { "public address": "ok", certificate: "warning", tunnel: "ok", page: "ok" };
  const found = expect.objectContaining({
    tunnel: expect.stringMatching(/ accepted a probe envelope \(SDK culvert\.doctor\)$/),
  });
  await expect.poll(() => checks({ BASE_URL })).toEqual({ code: 0, states, found });
  const COMPOSE_ENV_FILES = temporary("env", "TUNNEL_PATH=/k7f2a9\n");
  expect((await doctor({ BASE_URL, COMPOSE_ENV_FILES })).output).toMatch(/^✗ tunnel +\/k7f2a9 answers 4/m);
  const { code, output } = await doctor({ BASE_URL: "localhost" });
  expect([code, output]).toEqual([1, expect.stringMatching(/^✗ BASE_URL +'localhost' is not an https address/)]);
});

test("without a stack there is one line that says so", async () => {
  const { code, output } = await doctor({ COMPOSE_PROJECT_NAME: "culvert-no-such-stack" });
  const line = /^culvert: the stack is not running: start it first \(make up\)/;
  expect([code, output]).toEqual([1, expect.stringMatching(line)]);
});
