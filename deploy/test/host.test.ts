import { spawn } from "node:child_process";
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
  const script = '. deploy/host/lib.sh; NOTIFY_FAILURE="make up"; die "web: $TEXT"';
  const TEXT = String.raw`"x" \ failed`;
  expect((await run(["sh", "-euc", script], { TEXT })).code).toBe(1);
  expect(bodies).toEqual([]);
  expect((await run(["sh", "-euc", script], { TEXT, NOTIFY_URL })).code).toBe(1);
  server.close();
  expect(JSON.parse(bodies.join("")).text).toMatch(/^culvert on \S+: make up failed: web: "x" \\ failed$/);
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
  await expect.poll(() => second.output).toBe("==> Another make up or rollback is running: waiting until it ends\n");
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
