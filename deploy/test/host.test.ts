import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { host, lastLine, run, temporary, temporaryFolder, withDocker } from "./run.ts";
import { root } from "./support/docker.ts";

const all = temporaryFolder();
chmodSync(all, 0o755);
/** Of each attempt. */
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(all, "test-"));
  chmodSync(folder, 0o755);
});

/** Runs a script after lib.sh and these files of deploy. */
const sh = (files: string, script: string, environment = {}) =>
  run(["sh", "-euc", `for file in lib ${files}; do . deploy/$file.sh; done; ${script}`], environment);
test.each([
  ["a", "running b\nrunning a\nrunning ", "a"],
  ["a", "running b\nrunning \nexited a", ""],
  ["", "running a\nrestarting b", "b"],
])("with '%s' in .env, of %j, newest first, the current set is '%s'", async (saved, sets, current) => {
  const lines = sets.replace(/^(\w+) /gm, "id web $1 - hash id name ");
  const COMPOSE_ENV_FILES = temporary("env", saved && `WEB_SET=${saved}\n`);
  const { output } = await sh("host/stack", `stack='${lines}'; current_set`, { WEB_SET: "c", COMPOSE_ENV_FILES });
  expect(output).toBe(`${current}\n`);
});

test("variables of an image are named that compose replaces and .env does not set", async () => {
  const image = "NODE_EXTRA_CA_CERTS=/own.pem\nCONSOLE=mine\nTUNNEL_PATH=/own\nREGION=x";
  const web = "CONSOLE=mine\nNODE_EXTRA_CA_CERTS=/run/secrets/ingest_ca\nREGION=y";
  const client = withDocker(`
    case "$*" in *.Image*) echo sha256:1 ;; *sha256:1) printf '${image}\n' ;; *) printf '${web}\n' ;; esac`);
  const { output } = await sh("", "say_replaced x", { REGION: "y", ...client });
  expect(output).toBe(
    "    compose replaces the image's NODE_EXTRA_CA_CERTS: append its certificates to the file of INGEST_CA_FILE\n" +
      "    compose replaces the image's TUNNEL_PATH: if it is right, put it into .env\n",
  );
});

test("releases have names with spaces, also beside lines of earlier versions", async () => {
  mkdirSync(join(folder, ".culvert"));
  writeFileSync(
    join(folder, ".culvert", "x.releases"),
    "one sha256:1 shop:1 v1 2026-01-01\ntwo\tsha256:2\tshop:2\tv 2 x\t2026-01-02\n",
  );
  const script = `cd ${folder}; COMPOSE_PROJECT_NAME=x
    unset COMPOSE_ENV_FILES; undo_release sha256:2; find_release v1; find_release 'v 2 x'
    for value in 'v 2 x' 'a|&b'; do write_setting WEB_RELEASE "$value" 2>&1; setting WEB_RELEASE; cat .env; done`;
  expect((await sh("host/env-file host/releases", script)).output.split("\n")).toEqual([
    "one\tsha256:1\tshop:1\tv1\t2026-01-01",
    "two\tsha256:2\tshop:2\tv 2 x\t2026-01-02\tundone",
    "    WEB_RELEASE='v 2 x' in .env",
    "v 2 x",
    "WEB_RELEASE='v 2 x'",
    "    WEB_RELEASE='a|&b' in .env",
    "a|&b",
    "WEB_RELEASE='a|&b'",
    "",
  ]);
});

test.each<[string, string, RegExp]>([
  ["TLS_KEY_FILE", "/nowhere.pem", /^culvert: TLS_KEY_FILE: there is no file \/nowhere.pem: set an existing path/],
  ["SKEW_KEEP", "10", /^culvert: SKEW_KEEP: '10' is not a time: use a number up to 999 and a unit/],
  ["WEB_IMAGE", "127.0.0.1:1/shop", /^culvert: WEB_IMAGE: 127.0.0.1:1\/shop is not on this machine and cannot be/],
])("before make up changes anything, it rejects %s=%s", async (name, value, line) => {
  const { code, output } = await host("up", { [name]: value });
  expect([code, lastLine(output)]).toEqual([1, expect.stringMatching(line)]);
});

test("make up says where the site is, and whether web has egress", async () => {
  const summary = async (settings: Record<string, string>) => (await host("summary", settings)).output;
  const SERVER_NAME = " , app.example.com www.example.com";
  const fine = await summary({ SERVER_NAME, WEB_IMAGE: "shop:1" });
  expect(fine).toContain(`  app      https://app.example.com:${process.env.HTTPS_PORT}/\n`);
  expect(fine).toContain("  egress   web may call outside services (WEB_EGRESS=off blocks it)\n");
  const front = 'case "$*" in "compose port proxy 8443") echo :0 ;; *) exec $client "$@" ;; esac';
  expect(await summary({ SERVER_NAME, ...withDocker(front) })).toContain("  app      https://app.example.com/\n");
  const off = await summary({ WEB_IMAGE: "" });
  expect(off).toContain("  egress   web cannot call outside services (WEB_EGRESS=on allows it)\n");
});

test("make update pulls every base image and WEB_IMAGE, says which it did not get, and runs make up", async () => {
  const pull = 'pull) [ "$2" != shop:1 ] || exit 1; echo Pulling from x ;;';
  const inspect = 'image) case "$*" in *Created*) echo 2026-02-03T ;; esac ;;';
  const docker = `case $1 in ${pull} ${inspect} *) exec $client "$@" ;; esac`;
  const settings = { WEB_IMAGE: "shop:1", HTTPS_PORT: "https", ...withDocker(docker) };
  const { code, output } = await run(["make", "update"], settings);
  const { output: bases } = await run(["sh", "deploy/bare-machine/base-images.sh"]);
  const updated = bases.trim().split("\n");
  expect(output.split("\n")).toEqual(expect.arrayContaining(updated.map((image) => `    ${image}: 2026-02-03`)));
  expect(output).toMatch(/^ {4}shop:1 is not updated: /m);
  expect(output).toMatch(/^culvert: HTTPS_PORT: 'https' is not a port/m);
  expect(code).not.toBe(0);
});

test("a setting is read as compose reads it", async () => {
  const values = ['A="x y" # comment', "export B = c # d", "A='q'", "C=", " D=e  ", "B=http://x#y\r"];
  writeFileSync(join(folder, "first"), values.join("\n"));
  writeFileSync(join(folder, "second"), "D=f\n");
  const environment = { COMPOSE_ENV_FILES: [join(folder, "first"), join(folder, "second")].join(), E: "shell" };
  const { output } = await sh("", "for name in A B C D E; do setting $name default; done", environment);
  expect(output).toBe("q\nhttp://x#y\ndefault\nf\nshell\n");
});

test("a setting is written to the file that compose takes it from, else to the first one", async () => {
  const [first, second] = [temporary("first", "A=1\nB=1\n"), temporary("second", "B=2\n")];
  const lines = "for name in A B C; do write_setting $name 3; done; A=4 say_unsaved";
  const script = `compose_settings() { echo A; }; ${lines}`;
  const { output } = await sh("host/env-file", script, { COMPOSE_ENV_FILES: `${first},${second}` });
  expect([first, second].map((file) => readFileSync(file, "utf8"))).toEqual(["A=3\nB=1\nC=3\n", "B=3\n"]);
  expect(output).not.toContain("only in this shell");
});

test.each([
  ["HTTPS_PORT=abc", /^culvert: HTTPS_PORT: 'abc' is not a port: use a number from 1 to 65535/],
  ["WEB=of", /^culvert: WEB: 'of' is neither on nor off: use on or off/],
  [
    "CACHE_PASSWORD=pa$word$1",
    /^culvert: CACHE_PASSWORD: no variable word is set: put a value with \$ into single quotes: CACHE_PASSWORD='...\$word...'/,
  ],
  ["A='", /^culvert: docker compose cannot read its files: .*unterminated quoted value/],
])("make up and doctor name the setting that compose cannot read: %s", async (line, words) => {
  const COMPOSE_ENV_FILES = temporary("misread", `${line}\n`);
  const [name = ""] = line.split("=");
  for (const script of ["deploy/host/up.sh", "deploy/checks/host/doctor.sh"]) {
    const { code, output } = await run(["env", "-u", name, "-u", "BASE_URL", "sh", script], { COMPOSE_ENV_FILES });
    expect([code, lastLine(output)], script).toEqual([1, expect.stringMatching(words)]);
  }
});

test("whatever modes and line ends a clone has, images have their own", () => {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" });
  const dockerfiles = ["proxy", "proxy/spool", "web", "deploy/acme", "deploy/ingest"].map((dir) => `${dir}/Dockerfile`);
  const copies = dockerfiles.flatMap(
    (file) => readFileSync(join(root, file), "utf8").match(/^COPY (?!--from).*$/gm) ?? [],
  );
  expect(copies.filter((line) => !line.startsWith("COPY --chmod="))).toEqual([]);
  expect(git("check-attr", "eol", "deploy/host/up.sh", "Makefile").match(/: lf$/gm)).toHaveLength(2);
});

test("a clone with a colon in its path, or without its scripts' modes, is named at once", async () => {
  const clone = join(folder, "a:b");
  mkdirSync(clone);
  const check = (path: string) => sh("host/preflight", `cd '${path}'; check_clone`);
  expect((await check(clone)).output).toMatch(/^culvert: .*a:b: Docker cannot mount a folder with a colon/);
  expect((await check(folder)).output).toMatch(/^culvert: .*: its scripts cannot be executed: find deploy/);
  expect(await check(root)).toEqual({ code: 0, output: "" });
});

test("a folder that a container cannot read is named at once", async () => {
  writeFileSync(join(folder, "rules.yml"), "", { mode: 0o640 });
  const { code, output } = await sh("settings/check", `check_readable '${folder}'`);
  expect([code, output]).toEqual([1, expect.stringMatching(/rules\.yml: other users cannot read it.*chmod -R o\+rX/)]);
});

test("make up names what .env sets and nothing reads", async () => {
  const lines = "TUNNEL_PAHT=/x\nSERVER_NAME=x\nBAKE_TIME_S=60\nDOCKER_HOST=x\nROLLBACK_ON_ERRORS=on\n";
  const COMPOSE_ENV_FILES = temporary("unread", lines);
  expect((await sh("settings/check host/env-file", "say_unread", { COMPOSE_ENV_FILES })).output).toMatch(
    /^ +nothing reads TUNNEL_PAHT BAKE_TIME_S ROLLBACK_ON_ERRORS \(in .*unread\): .*\n$/,
  );
});

test("while another apt-get holds a lock, an installation waits; any other failure ends it at once", async () => {
  const install = async (name: string, message: string) => {
    const bin = join(folder, name);
    mkdirSync(bin);
    const aptGet = `#!/bin/sh\n[ -e ${bin}/tried ] || { touch ${bin}/tried; echo "${message}"; exit 100; }\necho installed\n`;
    writeFileSync(join(bin, "apt-get"), aptGet, { mode: 0o755 });
    const script = `apt_quiet ${bin}/log install x; cat ${bin}/log`;
    return sh("bare-machine/lib bare-machine/apt", script, { PATH: `${bin}:${process.env.PATH}` });
  };
  const locked = await install("locked", "E: Unable to lock directory /var/cache/apt/archives/");
  expect([locked.code, lastLine(locked.output)]).toEqual([0, "installed"]);
  expect((await install("missing", "E: Unable to locate package x")).code).toBe(1);
});

test("before the first start, .env gets IPv6 if the engine can have it, unless it has a value", async () => {
  const env = join(folder, ".env");
  const start = async (engine: string, content: string) => {
    writeFileSync(env, content);
    const script = `cd ${folder}; unset COMPOSE_ENV_FILES; enable_ipv6`;
    const settings = { COMPOSE_PROJECT_NAME: "x", ...withDocker(`case "$*" in ${engine} esac`) };
    const { code, output } = await sh("host/env-file host/preflight", script, settings);
    expect(code, output).toBe(0);
    return readFileSync(env, "utf8");
  };
  const first = "*inspect*) exit 1 ;;";
  expect(await start(first, "A=b")).toBe("A=b\nNETWORK_IPV6=true\n");
  expect(await start(first, "NETWORK_IPV6=false\n")).toBe("NETWORK_IPV6=false\n");
  for (const exit of ["1", "0"]) expect(await start(`*) exit ${exit} ;;`, "A=b\n")).toBe("A=b\n");
});

test("a failure is told to NOTIFY_URL as one line of JSON, Ctrl-C and success are not", async () => {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push((await request.toArray()).join(""));
    response.end();
  }).listen(0);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const NOTIFY_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const TEXT = String.raw`"x" \ failed`;
  for (const end of ["exit 130", "exit 0", "false", 'die "web: $TEXT"'])
    await sh("", `notify_failures "make up"; ${end}`, { TEXT, NOTIFY_URL });
  // Before anything else is done, too.
  await host("up", { HTTPS_PORT: "https", NOTIFY_URL });
  expect(bodies.map((body) => JSON.parse(body).text.replace(/^culvert on \S+: make up failed: /, ""))).toEqual([
    "its output says why",
    'web: "x" \\ failed',
    "HTTPS_PORT: 'https' is not a port: use a number from 1 to 65535",
  ]);
});

test("make up waits until another one has ended", async () => {
  const lock = ".culvert/culvert-locked.lock";
  mkdirSync(join(root, ".culvert"), { recursive: true });
  const other = spawn("flock", ["--close", lock, "sh", "-c", "echo begins; cat"], { cwd: root });
  onTestFinished(() => {
    other.stdin.end();
    rmSync(join(root, lock));
  });
  await once(other.stdout, "data");
  const settings = { COMPOSE_PROJECT_NAME: "culvert-locked", OTHER: String(other.pid) };
  const script = "say() { echo $*; kill $OTHER; }; lock_project; echo begins";
  const { output } = await sh("host/stack", script, settings);
  expect(output).toBe("==> Another make up or rollback is running: waiting until it ends\nbegins\n");
});

test.skipIf(process.getuid?.() !== 0)("without an engine and root, one line says what is missing", async () => {
  // A PATH with all programs that these scripts use, except docker.
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const name of "sh uname id sed grep awk head tr cat date dirname basename tail rm".split(" "))
    symlinkSync(`/usr/bin/${name}`, join(bin, name));
  // A copy, because another user may not enter a clone below root's home.
  for (const part of ["bare-machine", "lib.sh"])
    cpSync(join(root, "deploy", part), join(folder, "deploy", part), { recursive: true });
  const asNobody = ["setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/env", `--chdir=${folder}`, `PATH=${bin}`];
  const { code, output } = await run([...asNobody, "sh", "-euc", ". deploy/lib.sh; prepare_machine; say goes on"]);
  expect(output.match(/^(?!==>).+/gm), output).toHaveLength(1);
  expect(output).toMatch(
    /^culvert: Docker is missing \(engine compose buildx\): run 'sudo make up', .*, or install it yourself/m,
  );
  expect(code).not.toBe(0);
});
