import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
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
        `^culvert: HTTP_PORT: port ${process.env.HTTP_PORT} is in use by container ${process.env.COMPOSE_PROJECT_NAME}-proxy-\\d+: stop what uses it, or use another, e.g. HTTP_PORT=`,
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
    expectRejection("up.sh", { WEB_EGRESS: "yes" }, "culvert: WEB_EGRESS: 'yes' is neither on nor off: use on or off"));
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

test("an image that no registry provides is a one-line error before anything is replaced", async () => {
  const override = join(folder, "monitoring.yml");
  writeFileSync(override, "services: { prometheus: { image: 127.0.0.1:1/prometheus } }\n");
  await expectRejection(
    "up.sh",
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
  const address = server.address();
  const NOTIFY_URL = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/hook`;
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
      `${root}deploy/bare-machine/engine.sh`,
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
    const { code, output } = await run(["sh", "deploy/bare-machine/build.sh", "nginx:full"], {
      TMPDIR: small,
      REBUILD: "1",
    });
    expect(lastLine(output)).toMatch(
      /^culvert: nginx:full: disk full before it began: .*small has \d+ MB free, \d+ MB are needed: free some, or set TMPDIR/,
    );
    expect(code).not.toBe(0);
    expect((await run(["docker", "image", "inspect", "nginx:full"])).code).not.toBe(0);
  });
});
