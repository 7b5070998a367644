import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lastLine, run } from "./run.ts";
import { root } from "./support/docker.ts";

const isRoot = process.getuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), "culvert-"));
chmodSync(folder, 0o755);

async function expectRejection(script: string, environment: Record<string, string>, line: string | RegExp) {
  const { code, output } = await run(["sh", `deploy/host/${script}`], environment);
  expect(lastLine(output)).toMatch(line);
  expect(code).not.toBe(0);
}

describe("make up rejects, before it changes anything,", () => {
  const server = createServer();
  let taken = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const address = server.address();
    taken = String(typeof address === "object" ? address?.port : "");
  });
  afterAll(() => {
    server.close();
  });

  test.each(["HTTPS_PORT", "HTTP_PORT"])("a %s in use", (name) =>
    expectRejection(
      "up.sh",
      { [name]: taken },
      new RegExp(`^culvert: ${name}: port ${taken} is in use: stop what uses it, or use another`),
    ),
  );
  test("a port in use by a container, which it names", () =>
    expectRejection(
      "up.sh",
      { COMPOSE_PROJECT_NAME: "culvert-other" },
      new RegExp(
        `^culvert: HTTPS_PORT: port ${process.env.HTTPS_PORT} is in use by container ${process.env.COMPOSE_PROJECT_NAME}-proxy-\\d+: stop what uses it, or use another, e.g. HTTPS_PORT=`,
      ),
    ));
  test("a port in use that a compose file publishes", () => {
    const override = join(folder, "port.yml");
    writeFileSync(override, `services: { web: { ports: ["${taken}:3000"] } }\n`);
    return expectRejection(
      "up.sh",
      { COMPOSE_FILE: `${process.env.COMPOSE_FILE}:${override}` },
      `culvert: docker-compose.yml: port ${taken} is in use: stop what uses it, or change it there`,
    );
  });
  test("an invalid port", () =>
    expectRejection(
      "up.sh",
      { HTTPS_PORT: "https" },
      "culvert: HTTPS_PORT: 'https' is not a port: use a number from 1 to 65535",
    ));
  test("an invalid WEB_EGRESS", () =>
    expectRejection(
      "up.sh",
      { WEB_EGRESS: "yes" },
      "culvert: WEB_EGRESS: 'yes' must be on or off: on lets web call outside services, off does not",
    ));
  test("the same port for HTTPS and HTTP", () =>
    expectRejection(
      "up.sh",
      { HTTPS_PORT: String(process.env.HTTP_PORT) },
      `culvert: HTTP_PORT: the same as HTTPS_PORT (${process.env.HTTP_PORT}): use two different ports`,
    ));
  test.each(["TLS_CERT_FILE", "TLS_KEY_FILE", "INGEST_CA_FILE", "SERVER_ACTIONS_KEY_FILE"])(
    "a %s that does not exist",
    (name) =>
      expectRejection(
        "up.sh",
        { [name]: "/nowhere.pem" },
        `culvert: ${name}: there is no file /nowhere.pem: set an existing path`,
      ),
  );
  test("a certificate without its key", () => {
    writeFileSync(join(folder, "cert.pem"), "");
    return expectRejection(
      "up.sh",
      { TLS_CERT_FILE: join(folder, "cert.pem") },
      /^culvert: TLS_KEY_FILE: missing while TLS_CERT_FILE is set/,
    );
  });
});

test.each([
  ["", "", "web cannot call outside services (WEB_EGRESS=on allows it)"],
  ["", "shop:1", "web may call outside services (WEB_EGRESS=off blocks it)"],
  ["off", "shop:1", "web cannot call outside services (WEB_EGRESS=on allows it)"],
  ["on", "", "web may call outside services (WEB_EGRESS=off blocks it)"],
])("make up says whether web has egress: WEB_EGRESS=%j, WEB_IMAGE=%j", async (WEB_EGRESS, WEB_IMAGE, text) => {
  const { code, output } = await run(["sh", "deploy/host/summary.sh"], { WEB_EGRESS, WEB_IMAGE });
  expect(output).toContain(`  egress   ${text}\n`);
  expect(code).toBe(0);
});

test.each([
  ["app.example.com", "app.example.com"],
  ["app.example.com,www.example.com", "app.example.com"],
  [" , app.example.com www.example.com", "app.example.com"],
])("the first of the names in SERVER_NAME=%j is %s", async (names, first) => {
  expect(await run(["sh", "-c", '. deploy/host/lib.sh; first_of "$1"', "sh", names])).toEqual({
    code: 0,
    output: `${first}\n`,
  });
});

test("COMPOSE_PROFILES=monitoring without its images and without a registry is a one-line error before the start", async () => {
  const override = join(folder, "monitoring.yml");
  writeFileSync(override, "services: { prometheus: { image: 127.0.0.1:1/prometheus } }\n");
  const files = { COMPOSE_FILE: `${process.env.COMPOSE_FILE}:${override}` };
  await expectRejection(
    "monitoring-images.sh",
    { ...files, COMPOSE_PROFILES: "monitoring" },
    /^culvert: COMPOSE_PROFILES: monitoring needs 127\.0\.0\.1:1\/prometheus, which the container registry does not provide \(/,
  );
  expect((await run(["sh", "deploy/host/monitoring-images.sh"], files)).code).toBe(0);
});

test("if neither the new spool nor the old one starts, make deploy says that none runs", async () => {
  const script = `here=deploy/host; for file in lib rolling upgrade; do . deploy/host/$file.sh; done
    try() { :; }; start_spool() { return 1; }; docker() { :; }; undo_at_exit() { :; }; changes=" spool"; upgrade`;
  const { code, output } = await run(["sh", "-euc", script]);
  expect([code, lastLine(output)]).toEqual([
    1,
    "culvert: the new spool did not start: the reason is above; no spool runs, which docker compose logs spool explains; browsers and web send their envelopes again",
  ]);
});

test("a deployment waits until another one has ended", async () => {
  const script = `. '${root}/deploy/host/lib.sh'; . '${root}/deploy/host/interrupted.sh'; project=x; wait_for_others; echo begins; cat`;
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
    .toBe("==> Another make up, deploy or rollback is running: waiting until it ends\n");
  first.process.stdin.end();
  await expect.poll(() => second.output).toContain("begins\n");
  second.process.stdin.end();
});

test("facts: names come from the compose files of .env, with spaces in their paths", async () => {
  const own = join(folder, "own file.yml");
  writeFileSync(own, "services: { web: { environment: { NAME_OF_MY_OWN: } } }\n");
  writeFileSync(join(folder, "env"), `COMPOSE_FILE="docker-compose.yml:${own}"\n`);
  const script = "root=$PWD; . deploy/host/lib.sh; . deploy/host/settings.sh; . deploy/host/facts.sh; known_names";
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
    for (const name of [
      "sh",
      "uname",
      "id",
      "sed",
      "grep",
      "awk",
      "head",
      "tr",
      "cat",
      "date",
      "dirname",
      "basename",
      "tail",
    ]) {
      symlinkSync(`/usr/bin/${name}`, join(bin, name));
    }
  });

  test.skipIf(!isRoot)("and without root: one line says what is missing and how to install it", async () => {
    const asNobody = [
      "setpriv",
      "--reuid=65534",
      "--clear-groups",
      "/usr/bin/env",
      `PATH=${bin}`,
      "sh",
      `${root}deploy/host/engine.sh`,
    ];
    const { code, output } = await run(asNobody);
    expect(output.trim().split("\n")).toHaveLength(1);
    expect(output).toMatch(
      /^culvert: Docker is missing \(engine compose buildx\): run 'sudo make up', .*, or install it yourself/,
    );
    expect(code).not.toBe(0);
  });
});

describe("a full disk during the build of a base image", () => {
  const small = join(folder, "small");
  beforeAll(async () => {
    if (!isRoot) return;
    mkdirSync(small);
    await run(["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", small]);
  });
  afterAll(async () => {
    if (isRoot) await run(["umount", small]);
  });

  test.skipIf(!isRoot)("is named with its free space, and no image is left", async () => {
    const { code, output } = await run(["sh", "deploy/airgap/build.sh", "nginx:full"], { TMPDIR: small, REBUILD: "1" });
    expect(lastLine(output)).toMatch(
      /^culvert: nginx:full: disk full before it began: .*small has \d+ MB free, \d+ MB are needed: free some, or set TMPDIR/,
    );
    expect(code).not.toBe(0);
    expect((await run(["docker", "image", "inspect", "nginx:full"])).code).not.toBe(0);
  });
});
