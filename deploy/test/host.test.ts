import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lastLine, run } from "./run.ts";
import { root } from "./support/docker.ts";

const isRoot = process.getuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), "culvert-"));
chmodSync(folder, 0o755);

/** A PATH whose docker client is this script; `client` in it is the real one. */
function withDocker(name: string, script: string): { PATH: string } {
  const bin = join(folder, name);
  mkdirSync(bin);
  const client = execFileSync("sh", ["-c", "command -v docker"], { encoding: "utf8" }).trim();
  writeFileSync(join(bin, "docker"), `#!/bin/sh\nclient=${client}\n${script}\n`, { mode: 0o755 });
  return { PATH: `${bin}:${process.env.PATH}` };
}

/** Runs `make up`, which must end with this line. */
async function expectRejection(environment: Record<string, string>, line: RegExp) {
  const { code, output } = await run(["sh", "deploy/host/up.sh"], environment);
  expect(lastLine(output)).toMatch(line);
  expect(code).not.toBe(0);
}

describe("make up rejects, before it changes anything,", () => {
  const { COMPOSE_PROJECT_NAME: project, COMPOSE_FILE, HTTP_PORT = "" } = process.env;
  const server = createServer();
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, resolve)));
  afterAll(() => void server.close());
  const taken = () => String((server.address() as AddressInfo).port);

  test("a port in use, also one that another compose file publishes", async () => {
    const line = (name: string) => new RegExp(`^culvert: ${name}: port ${taken()} is in use: stop what uses it, or `);
    await expectRejection({ HTTPS_PORT: taken() }, line("HTTPS_PORT"));
    const override = join(folder, "port.yml");
    writeFileSync(override, `services: { web: { ports: ["${taken()}:3000"] } }\n`);
    await expectRejection({ COMPOSE_FILE: `${COMPOSE_FILE}:${override}` }, line("docker-compose.yml"));
  });
  test("a port in use by a container, which it names", () =>
    expectRejection(
      { COMPOSE_PROJECT_NAME: "culvert-other" },
      new RegExp(`^culvert: HTTP_PORT: port ${HTTP_PORT} is in use by container ${project}-proxy-\\d+: stop`),
    ));
  test.each<[string, string, RegExp]>([
    ["HTTPS_PORT", "https", /^culvert: HTTPS_PORT: 'https' is not a port: use a number from 1 to 65535/],
    ["HTTPS_PORT", HTTP_PORT, /^culvert: HTTP_PORT: the same as HTTPS_PORT \(\d+\): use two different ports/],
    ["WEB_EGRESS", "yes", /^culvert: WEB_EGRESS: 'yes' is neither on nor off: use on or off/],
    ["BAKE_TIME_S", "1m", /^culvert: BAKE_TIME_S: '1m' is not a number of seconds: use one from 1 to 9999, or off/],
    ["TLS_KEY_FILE", "/nowhere.pem", /^culvert: TLS_KEY_FILE: there is no file \/nowhere.pem: set an existing path/],
    ["TLS_CERT_FILE", "/etc/hostname", /^culvert: TLS_KEY_FILE: missing while TLS_CERT_FILE is set/],
    ["WEB_IMAGE", "127.0.0.1:1/shop", /^culvert: WEB_IMAGE: 127.0.0.1:1\/shop is not on this machine and cannot be/],
  ])("%s=%s", (name, value, line) => expectRejection({ [name]: value }, line));
});

test.each([
  ["", "web cannot call outside services (WEB_EGRESS=on allows it)"],
  ["shop:1", "web may call outside services (WEB_EGRESS=off blocks it)"],
])("make up says where the site is, and whether web has egress: WEB_IMAGE=%j", async (WEB_IMAGE, text) => {
  const SERVER_NAME = " , app.example.com www.example.com";
  const { code, output } = await run(["sh", "deploy/host/summary.sh"], { WEB_IMAGE, SERVER_NAME });
  expect(output).toContain(`  app      https://app.example.com:${process.env.HTTPS_PORT}/\n`);
  expect(output).toContain(`  egress   ${text}\n`);
  expect(code).toBe(0);
});

test.each([
  ["no line on a certificate that is fine", 0, 4_000_000_000, []],
  [
    "a pair that cannot be loaded",
    1,
    4_000_000_000,
    [expect.stringMatching(/^ {2}TLS {6}TLS_CERT_FILE and .* grep TLS_/)],
  ],
  ["an expired certificate", 0, 1_700_000_000, [expect.stringMatching(/^ {2}TLS {6}the certificate has expired: /)]],
])("make up prints %s", async (name, rejected, expiry, lines) => {
  const metrics = `culvert_certificate_rejected ${rejected}\nculvert_certificate_expiry_timestamp_seconds ${expiry}`;
  const docker = `case "$*" in *8081/metrics) echo '${metrics}' ;; *) exec $client "$@" ;; esac`;
  const { output } = await run(["sh", "deploy/host/summary.sh"], withDocker(name, docker));
  expect(output.split("\n").filter((line) => line.startsWith("  TLS "))).toEqual(lines);
});

test("make up says when COMPOSE_FILE leaves docker-compose.override.yml out", async () => {
  writeFileSync(join(folder, "docker-compose.override.yml"), "");
  const lib = `${root}deploy/host`;
  const script = `cd '${folder}'; . '${lib}/lib.sh'; . '${lib}/preflight.sh'; has() { false; }; check_free() { :; }; preflight`;
  const said = async (COMPOSE_FILE: string) => (await run(["sh", "-euc", script], { COMPOSE_FILE })).output;
  expect(await said("docker-compose.yml:front.yml")).toMatch(/^culvert: docker-compose.override.yml is not used: /);
  for (const used of ["", "docker-compose.yml:docker-compose.override.yml"]) expect(await said(used)).toBe("");
});

test("make update pulls every base image and WEB_IMAGE, says which it did not get, and runs make up", async () => {
  const pull = 'pull) [ "$2" != shop:1 ] || exit 1; echo Pulling from x ;;';
  const inspect = 'image) case "$*" in *Created*) echo 2026-02-03T ;; esac ;;';
  const docker = `case $1 in ${pull} ${inspect} *) exec $client "$@" ;; esac`;
  const settings = { WEB_IMAGE: "shop:1", HTTPS_PORT: "https", ...withDocker("update", docker) };
  const { code, output } = await run(["sh", "deploy/host/update.sh"], settings);
  const { output: bases } = await run(["sh", "deploy/bare-machine/base-images.sh"]);
  const updated = bases.trim().split("\n");
  expect(output.split("\n")).toEqual(expect.arrayContaining(updated.map((image) => `    ${image}: 2026-02-03`)));
  expect(output).toMatch(/^ {4}shop:1 is not updated: /m);
  expect([code, lastLine(output)]).toEqual([1, expect.stringMatching(/^culvert: HTTPS_PORT: 'https' is not a port/)]);
});

test("of a log, the line that says why Node ended is an error's first, or its cause", async () => {
  const words = async (script: string) => {
    const { output } = await run(["node", "-e", script]);
    return (
      await run(["sh", "-c", `. deploy/host/lib.sh; printf '%s' "$LOG" | words | tail -n 1`], { LOG: output })
    ).output.trim();
  };
  const refused =
    "Object.assign(Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', address: '10.0.0.1', port: 5432 })";
  expect(await words(`console.log('ready'); throw ${refused}`)).toBe("Error: connect ECONNREFUSED");
  expect(await words(`throw Error('no database', { cause: ${refused} })`)).toBe("[cause]: Error: connect ECONNREFUSED");
});

test("an image that no registry provides is a one-line error before anything is replaced", async () => {
  const override = join(folder, "monitoring.yml");
  writeFileSync(override, "services: { prometheus: { image: 127.0.0.1:1/prometheus } }\n");
  await expectRejection(
    { COMPOSE_FILE: `${process.env.COMPOSE_FILE}:${override}`, COMPOSE_PROFILES: "monitoring" },
    /^culvert: \S+ cannot be pulled: the reason is above; nothing was replaced/,
  );
});

test("a setting is read as compose reads it", async () => {
  const values = ['A="x y" # comment', "export B = c # d", "A='q'", "C=", " D=e  ", "B=http://x#y\r"];
  writeFileSync(join(folder, "first"), values.join("\n"));
  writeFileSync(join(folder, "second"), "D=f\n");
  const environment = { COMPOSE_ENV_FILES: [join(folder, "first"), join(folder, "second")].join(), E: "shell" };
  const script = ". deploy/host/lib.sh; for name in A B C D E; do setting $name default; done";
  expect((await run(["sh", "-euc", script], environment)).output).toBe("q\nhttp://x#y\ndefault\nf\nshell\n");
});

test.each([
  ["registry.example/team/shop:1.4", "shop@1.4"],
  ["registry.example:5000/shop@sha256:0123456789abcdef", "shop@0123456789ab"],
])("the release of WEB_IMAGE=%s is %s", async (WEB_IMAGE, release) => {
  const script = ". deploy/host/lib.sh; default_release";
  expect((await run(["sh", "-euc", script], { WEB_IMAGE })).output).toBe(`${release}\n`);
});

test("a failure is told to NOTIFY_URL as one line of JSON", async () => {
  const bodies: string[] = [];
  const server = createHttpServer((request, response) => {
    request.setEncoding("utf8").on("data", (chunk) => bodies.push(chunk));
    request.on("end", () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const NOTIFY_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const script = '. deploy/host/lib.sh; notify_failures "make up"; die "web: $TEXT"';
  const TEXT = String.raw`"x" \ failed`;
  expect((await run(["sh", "-euc", script], { TEXT })).code).toBe(1);
  expect(bodies).toEqual([]);
  for (const end of ["false", "exit 130", "exit 0"])
    await run(["sh", "-euc", script.replace(/die .*/, end)], { NOTIFY_URL });
  expect((await run(["sh", "-euc", script], { TEXT, NOTIFY_URL })).code).toBe(1);
  // Before anything else is done, too.
  await run(["sh", "deploy/host/up.sh"], { HTTPS_PORT: "https", NOTIFY_URL });
  server.close();
  expect(bodies.map((body) => JSON.parse(body).text.replace(/^culvert on \S+: make up failed: /, ""))).toEqual([
    "its output says why",
    'web: "x" \\ failed',
    expect.stringMatching(/^HTTPS_PORT: 'https' is not a port/),
  ]);
});

test("make up waits until another one has ended", async () => {
  const script = `. '${root}/deploy/host/lib.sh'; . '${root}/deploy/host/stack.sh'; project_name() { echo x; }; use_project; echo begins; cat`;
  const start = () => {
    const process = spawn("sh", ["-c", script], { cwd: folder });
    const started = { process, output: "" };
    for (const stream of [process.stdout, process.stderr])
      stream.on("data", (data) => {
        started.output += data;
      });
    return started;
  };
  const first = start();
  await expect.poll(() => first.output).toBe("begins\n");
  const second = start();
  await expect
    .poll(() => second.output)
    .toBe("==> Another make up, rollback or backup is running: waiting until it ends\n");
  first.process.stdin.end();
  await expect.poll(() => second.output).toContain("begins\n");
  second.process.stdin.end();
});

test("facts: names come from the compose files of .env, with spaces in their paths", async () => {
  const own = join(folder, "own file.yml");
  writeFileSync(own, "services: { web: { environment: { NAME_OF_MY_OWN: } } }\n");
  writeFileSync(join(folder, "env"), `COMPOSE_FILE="docker-compose.yml:${own}"\n`);
  const script = ". deploy/host/lib.sh; . deploy/doctor/facts.sh; known_names";
  const { output } = await run(["env", "-u", "COMPOSE_FILE", "sh", "-c", script], {
    COMPOSE_ENV_FILES: join(folder, "env"),
  });
  expect(output.split("\n")).toEqual(expect.arrayContaining(["NAME_OF_MY_OWN", "SENTRY_DSN", "WEB_IMAGE"]));
});

describe("a machine without an engine", () => {
  // A PATH with all programs that these scripts use, except docker.
  const bin = join(folder, "bin");
  beforeAll(() => {
    mkdirSync(bin);
    for (const name of "sh uname id sed grep awk head tr cat date dirname basename tail".split(" "))
      symlinkSync(`/usr/bin/${name}`, join(bin, name));
  });

  test.skipIf(!isRoot)("and without root: one line says what is missing and how to install it", async () => {
    const asNobody = ["setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/env", `PATH=${bin}`];
    const { code, output } = await run([...asNobody, "sh", `${root}deploy/bare-machine/engine.sh`]);
    expect(output.trim().split("\n")).toHaveLength(1);
    expect(output).toMatch(
      /^culvert: Docker is missing \(engine compose buildx\): run 'sudo make up', .*, or install it yourself/,
    );
    expect(code).not.toBe(0);
  });
});
