import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { endLoad, type Failure, load, send } from "./load.ts";
import { lastLine, must, run, withDocker } from "./run.ts";
import { type Outcome, root } from "./support/docker.ts";
import { buildImage } from "./support/images.ts";

// A stack of its own: the tested proxy, and releases that are healthy; server.cjs says what else they are.
const project = `culvert-deploy-${process.pid}`;
const releases = ["first", "second", "third", "broken", "sick", "unreachable"] as const;
type Release = (typeof releases)[number];
const image = (release: Release) => `${project}:${release}`;
/** A release's name in `make releases`. */
const shortId = async (release: Release) =>
  (await must(["docker", "image", "inspect", "--format={{.Id}}", image(release)])).slice(7, 19);
const running = () => must(["docker", "compose", "exec", "-T", "web", "printenv", "NAME"]);

const up = (release: Release, settings: Record<string, string> = {}) =>
  run(["sh", "deploy/host/up.sh"], { WEB_IMAGE: image(release), ...settings });
const rollback = (release: Release, settings: Record<string, string> = {}) =>
  run(["sh", "deploy/host/rollback.sh"], { WEB_IMAGE: image(release), ...settings });
const scale = (count: number) => {
  const options = ["--detach", "--no-build", "--no-recreate", "--wait", `--scale=web=${count}`];
  return must(["docker", "compose", "up", ...options, "web"], { WEB_IMAGE: image("first") });
};

const folder = mkdtempSync(join(tmpdir(), "culvert-deploy-"));
/** The settings, as an operator's .env. */
const envFile = join(folder, "env");
const written = () => readFileSync(envFile, "utf8");
/** What else than the set that serves is in it. */
const saved = () => written().replace(/^WEB_SET=.*\n/gm, "");
const save = (text: string) => writeFileSync(envFile, `${written().match(/^WEB_SET=.*\n/m)?.[0] ?? ""}${text}`);
/** What make rollback reads: a line for each release, the last deployed last. */
const releasesFile = join(root, ".culvert", `${project}.releases`);
/** Runs a script in a process group of its own. Its docker client runs `hook` after the first command that contains `text`. */
const interrupted = (script: string[], text: string, hook: string, settings: Record<string, string>) => {
  const client = `$client "$@"; ended=$?; case "$*" in *"${text}"*) rm "$0"; ${hook} ;; esac; exit $ended`;
  return run(["setsid", "--wait", "sh", ...script], { ...withDocker(client), ...settings });
};
const makeUp = ["deploy/host/up.sh"];

/** The containers, exited ones included. */
const containers = async (service: string) =>
  (await must(["docker", "compose", "ps", "--all", "--quiet", service])).split("\n").sort();
const allContainers = async () => [await containers("proxy"), await containers("web")];
/** A setting with which the proxy is replaced. */
const changed = { SERVER_NAME: "app.example.com" };
const invalid = { HSTS_MAX_AGE: "soon" };
const isUp = async () => typeof (await send({ name: "page", path: "/healthz", status: 200 })) === "string";

/** Requests these paths again and again until `change` is finished; returns its result and the failures. */
async function underLoad<Result>(change: Promise<Result>, ...more: string[]): Promise<[Result, Failure[]]> {
  const requests = ["/healthz", ...more].map((path) => ({ name: path, path, status: 200 }));
  const { result, failures } = await load(requests, change, { connections: 1, pauseMs: 25 });
  return [result, failures];
}

/** The containers of releases that are kept for open pages. */
const previous = async () =>
  (await must(["docker", "ps", "--quiet", `--filter=name=${project}-web-previous`])).split("\n").filter(Boolean);
/** What a page of this release gets. */
const answerFor = (release: string) => send({ name: release, path: `/name?dpl=${release}`, status: 200 });

beforeAll(async () => {
  vi.stubEnv("IMAGES", process.env.COMPOSE_PROJECT_NAME);
  vi.stubEnv("COMPOSE_PROJECT_NAME", project);
  vi.stubEnv("COMPOSE_FILE", "docker-compose.yml:deploy/test/releases.compose.yml");
  vi.stubEnv("HTTPS_PORT", String(Number(process.env.HTTPS_PORT) + 3));
  vi.stubEnv("HTTP_PORT", String(Number(process.env.HTTP_PORT) + 3));
  vi.stubEnv("SENTRY_RELEASE", undefined);
  vi.stubEnv("COMPOSE_ENV_FILES", envFile);
  writeFileSync(envFile, "");
  for (const NAME of releases) await buildImage("deploy/test/releases", { tag: image(NAME), args: { NAME } });
  const { code, output } = await up("first");
  expect(code, output).toBe(0);
});
// Also before another attempt.
beforeEach(() => save(""));
// Runs after the next one: other files of this process have the environment that they began with.
afterAll(() => void vi.unstubAllEnvs());
afterAll(async () => {
  endLoad();
  await run(["docker", "compose", "--profile", "*", "down", "--remove-orphans", "--volumes", "-t", "0"]);
  // compose removes the network of its current WEB_IMAGE only.
  const networks = `docker network ls --quiet --filter=label=com.docker.compose.project=${project}`;
  await run(["sh", "-c", `${networks} | xargs -r docker network rm`]);
  const images = `docker image ls --quiet --filter=reference='${project}*'`;
  await run(["sh", "-c", `docker image rm --force $(${images} | sort -u)`]);
  rmSync(folder, { recursive: true });
  rmSync(releasesFile);
});

test("with an invalid setting, one line says so, and what runs keeps serving", async () => {
  const before = await allContainers();
  const [{ code, output }, failures] = await underLoad(up("first", invalid));
  expect([code, output.match(/^culvert: .*/gm)]).toEqual([
    1,
    [expect.stringMatching(/^culvert: proxy: HSTS_MAX_AGE 'soon' .*; nothing was replaced/)],
  ]);
  expect([failures, await allContainers()]).toEqual([[], before]);
  expect(output).toMatch(/^ {4}only in this shell:.* HSTS_MAX_AGE.* WEB_IMAGE \(put what is to last into .*env\)$/m);
});

const withFile = (name: string, services: string) => {
  const file = join(folder, name);
  writeFileSync(file, `services: { ${services} }\n`);
  return { COMPOSE_FILE: `${process.env.COMPOSE_FILE}:${file}` };
};

test("a setting with which web only fails is named by the proxy", async () => {
  const { output } = await up("second", { BASE_PATH: "shop" });
  expect(lastLine(output)).toMatch(/^culvert: proxy: BASE_PATH 'shop' is not .*; nothing was replaced/);
});

test("a build that fails is the end: nothing is replaced", async () => {
  const { code, output } = await up("second", withFile("build.yml", "web: { build: { dockerfile: none } }"));
  expect([code, lastLine(output)]).toEqual([
    1,
    "culvert: the build failed: the reason is above; nothing was replaced, what runs keeps serving",
  ]);
});

test("of another service that does not run, its error is the reason", async () => {
  const script = "throw Object.assign(Error('no database'), { code: 'ECONNREFUSED', port: 5432 })";
  const other = `other: { image: node:24-trixie-slim, network_mode: none, command: [node, -e, "${script}"], healthcheck: { test: [CMD, "true"] } }`;
  const { code, output } = await up("first", withFile("other.yml", other));
  expect([code, output.match(/^culvert: .*/gm)]).toEqual([
    1,
    [
      "culvert: other (exited): Error: no database",
      "culvert: not every service runs: the reason is above; what runs keeps serving",
    ],
  ]);
});

const kept = "nothing was replaced, what runs keeps serving";
const got503 = "the proxy got status 503 from the new container at <address>";
/** A docker client that turns a minute of waiting for an answer into eight seconds. */
const impatient = withDocker(
  'for one; do shift; [ "$one" != 60 ] || one=8; set -- "$@" "$one"; done; exec $client "$@"',
);
/** The last line of `make up`, of another release than the one that runs. */
const failure = ({ code, output }: Outcome) => [
  code,
  lastLine(output).replace(/\b(?!127)(?:\d+\.){3}\d+\b/g, "<address>"),
];
test.each<[Release, Record<string, string>, string]>([
  ["unreachable", impatient, `${got503}; ${kept}`],
  ["broken", {}, `/ answers 404, and 200 from what runs: if this is intended, set ALLOW_CHANGED_ANSWERS=on; ${kept}`],
])("a release that is not good does not replace the one that runs: %s", async (release, settings, line) => {
  const before = await allContainers();
  const [result, failures] = await underLoad(up(release, settings));
  expect(failure(result)).toEqual([1, `culvert: web: ${line}`]);
  expect(await allContainers()).toEqual(before);
  expect(failures).toEqual([]);
});

test("Ctrl-C while the new release starts fails no request, and leaves the one that runs", async () => {
  const before = await allContainers();
  const change = interrupted(makeUp, " up --detach ", "kill -INT 0", { WEB_IMAGE: image("second") });
  const [{ code }, failures] = await underLoad(change);
  expect([code, failures, await running(), await allContainers()]).toEqual([130, [], "first", before]);
});

test("with the image that runs, only the health check is compared: a setting may change the start page", async () => {
  const off = await up("first", { CONSOLE: "off" });
  expect([off.code, await send({ name: "/", path: "/", status: 404 })], off.output).toEqual([0, "first"]);
  const on = await up("first");
  expect([on.code, await send({ name: "/", path: "/", status: 200 })], on.output).toEqual([0, "first"]);
});

test("a new release replaces two replicas; what make rollback undoes stays undone", async () => {
  await scale(2);
  const old = await containers("web");
  const other = await must(["docker", "image", "inspect", "--format={{.Id}}", `${process.env.IMAGES}-proxy`]);
  const older = [1, 2, 3, 4, 5, 6].map((day) => `older-${day} ${other} ${project}:older - 2020-01-0${day}T00:00:00\n`);
  writeFileSync(releasesFile, older.join("") + readFileSync(releasesFile, "utf8"));
  save(`WEB_IMAGE=${image("broken")} # the next one\nSENTRY_RELEASE=second\n`);
  const [{ code, output }, failures] = await underLoad(up("broken", { ALLOW_CHANGED_ANSWERS: "on" }));
  expect([code, failures, await running()], output).toEqual([0, [], "broken"]);
  const [undone, others] = await underLoad(rollback("broken"));
  expect([undone.code, others], undone.output).toEqual([0, []]);
  const current = await containers("web");
  expect([await running(), current.length, current.filter((id) => old.includes(id))]).toEqual(["first", 2, []]);

  // The next make up does not bring it back.
  expect(saved()).toBe(`WEB_IMAGE=${image("first")}\nSENTRY_RELEASE=${project}@first\n`);
  const again = await run(["sh", ...makeUp], { ACME: "", TUNNEL_RATE_PER_CLIENT: "" });
  expect(again.output).toContain("up to date: spool proxy web");
  expect([again.code, await containers("web")]).toEqual([0, current]);

  const list = await must(["sh", "deploy/host/list-releases.sh"]);
  expect(list).toMatch(new RegExp(`^${await shortId("broken")} +${image("broken")} +second .*  undone$`, "m"));
  expect(list).toMatch(new RegExp(`^${await shortId("first")} +${image("first")} +${project}@first .*  running$`, "m"));
  expect(list.split("\n")).toHaveLength(1 + 6);
  const said = async (RELEASE: string) => (await rollback("broken", { RELEASE })).output;
  expect(await said("older-1")).toContain("'older-1' is not kept: make releases lists those that are");
  expect(await said(`${project}@first`)).toMatch(/ is already running: make releases lists the others/);
  await scale(1);
});

test("a replaced release goes on for its own pages, and so does one that make rollback replaces; it ends by itself", async () => {
  const [{ code, output }, failures] = await underLoad(up("second", { SKEW_KEEP: "10m" }), "/name?dpl=first");
  expect([code, failures], output).toEqual([0, []]);
  expect(await Promise.all([answerFor("first"), answerFor("second"), answerFor("gone")])).toEqual([
    ...["first", "second", "second"],
  ]);
  // Nothing starts it again after a crash or a restart of the machine.
  expect(await must(["docker", "inspect", "--format={{.HostConfig.RestartPolicy.Name}}", ...(await previous())])).toBe(
    "no",
  );

  const [, others] = await underLoad(rollback("second", { SKEW_KEEP: "10m" }), "/name?dpl=second");
  expect(others).toEqual([]);
  expect(await Promise.all([answerFor("first"), answerFor("second"), running()])).toEqual(["first", "second", "first"]);
  expect(await previous()).toHaveLength(1);

  const short = await up("third", { SKEW_KEEP: "5s" });
  expect(short.output).toContain("open pages keep their release for 5s");
  await expect.poll(() => answerFor("first"), { timeout: 60_000 }).toBe("third");
  await expect.poll(async () => (await previous()).length, { timeout: 60_000 }).toBe(0);
  expect((await rollback("third", { SKEW_KEEP: "0" })).code).toBe(0);
  expect(await previous()).toEqual([]);
});

test("a release has had its last request before it is told to stop, also with two replicas", async () => {
  const requests = ["/slow", "/healthz"].map((path) => ({ name: path, path, status: 200 }));
  const forms = requests.map((request) => ({ ...request, name: `form ${request.path}`, body: "a=1" }));
  const underForms = async (change: Promise<Outcome>) => {
    const { result, failures } = await load([...requests, ...forms], change, { connections: 16, pauseMs: 0 });
    expect([result.code, failures], result.output).toEqual([0, []]);
  };
  await scale(2);
  await underForms(up("second"));
  await underForms(rollback("second"));
  expect([await running(), (await containers("web")).length]).toEqual(["first", 2]);
  await scale(1);
});

test("a tag that has become another image is another release; make rollback gets back to the first one", async () => {
  const retag = (release: Release) => must(["docker", "tag", image(release), `${project}:moving`]);
  const moving = () => run(["sh", ...makeUp], { WEB_IMAGE: `${project}:moving` });
  // With settings of its own, which web must have.
  const lines = `FROM ${image("second")}\\nENV SENTRY_RELEASE=own@1 SENTRY_ENVIRONMENT="blue green"\\n`;
  await must(["sh", "-c", `printf '${lines}' | docker build --tag ${project}:moving -`]);
  const printed = ["printenv", "SENTRY_RELEASE", "SENTRY_ENVIRONMENT"];
  const own = () => must(["docker", "compose", "exec", "-T", "web", ...printed]);
  expect((await moving()).code).toBe(0);
  expect(await own()).toBe("own@1\nblue green");
  await retag("third");
  expect((await moving()).code).toBe(0);
  expect(await running()).toBe("third");
  save(`WEB_IMAGE=${project}:moving\n`);
  expect((await run(["sh", "deploy/host/rollback.sh"])).output).toMatch(/==> Back to \w{12} \(.*:moving, own@1\)\n/);
  expect([await running(), saved()]).toEqual([
    "second",
    expect.stringMatching(new RegExp(`^WEB_IMAGE=${project}-web:[0-9a-f]{12}\n$`)),
  ]);
  expect(await own()).toBe("own@1\nblue green");
  expect((await run(["sh", ...makeUp])).output).toContain("up to date: spool proxy web");
});

test("without WEB_IMAGE, what was built before is put back, and stays until WEB_TAG is removed", async () => {
  const sources = withFile("sources.yml", 'web: { build: { context: deploy/test/releases, args: ["NAME"] } }');
  const built = (NAME: string, script = "up") =>
    run(["sh", `deploy/host/${script}.sh`], { ...sources, NAME, CONTENT_SECURITY_POLICY: "off" });
  for (const name of ["one", "two"]) expect((await built(name)).code).toBe(0);
  expect((await built("two", "rollback")).code).toBe(0);
  expect([await running(), saved()]).toEqual(["one", expect.stringMatching(/^WEB_TAG=[0-9a-f]{12}\n$/)]);
  const again = await built("two");
  expect(again.output).toMatch(/web stays at \w{12}, which make rollback has put back: to build web\/ again, remove /);
  expect(again.output).toContain("up to date: spool proxy web");
  save("WEB_TAG=0.9\n");
  const gone = `culvert: WEB_TAG: ${project}-web:0.9 is not on this machine: remove WEB_TAG from ${envFile} to build web/; ${kept}`;
  expect(lastLine((await built("two")).output)).toBe(gone);
  save("");
  expect((await up("first")).code).toBe(0);
});

test("what kill -9 leaves is put in order by the next make up", async () => {
  const [proxy = ""] = await containers("proxy");
  const settings = { WEB_IMAGE: image("third"), ...changed };
  await interrupted(makeUp, "stop -t", "kill -KILL 0", settings);
  // The old proxy has released the ports.
  expect(await containers("proxy")).toHaveLength(2);
  expect(await isUp()).toBe(false);

  await interrupted(makeUp, " up --detach ", "kill -KILL 0", settings);
  expect(await isUp()).toBe(true);
  expect(await containers("proxy")).toContain(proxy);
  expect(await containers("web")).toHaveLength(2);

  // The proxy is replaced: only connections are refused.
  const [{ code }, failures] = await underLoad(up("third", changed));
  expect([code, failures.filter(({ reached }) => reached)]).toEqual([0, []]);
  expect([await running(), (await containers("web")).length]).toEqual(["third", 1]);
  expect(await containers("proxy")).not.toContain(proxy);
});

test("after a crash loop, make up accepts the corrected setting", async () => {
  await run(["docker", "compose", "up", "--detach", "--no-build"], { WEB_IMAGE: image("first"), ...invalid });
  const status = () => must(["docker", "compose", "ps", "--all", "--format={{.State}}", "proxy"]);
  await expect.poll(status).toBe("restarting");
  expect((await up("first", changed)).code).toBe(0);
  expect(await isUp()).toBe(true);
});

test("a proxy in one more network, which is another stack's, is replaced", async () => {
  const network = await must([
    "docker",
    "network",
    "create",
    `--label=com.docker.compose.project=${project}`,
    `${project}-z`,
  ]);
  const other = `proxy: { networks: [zone] } }\nnetworks: { zone: { external: true, name: ${project}-z }`;
  const { code, output } = await up("first", { ...changed, ...withFile("zone.yml", other) });
  expect(code, output).toBe(0);
  expect(await must(["docker", "inspect", ...(await containers("proxy"))])).toContain(network);
  expect([(await up("first", changed)).code, await isUp()]).toEqual([0, true]);
});

test("while web is down, neither a bad make up, a good one nor make rollback touches the proxy", async () => {
  const crash = withFile("crash.yml", 'web: { command: ["false"] }');
  const state = () => must(["docker", "compose", "ps", "--all", "--format={{.State}}", "web"]);
  const takeWebDown = async () => {
    const restart = ["docker", "compose", "up", "--detach", "--no-build", "--no-deps", "--force-recreate", "web"];
    await must(restart, { ...crash, ...changed });
    await expect.poll(state, { timeout: 60_000 }).toMatch(/restarting/);
  };
  const proxy = await containers("proxy");
  await takeWebDown();
  const bad = await up("unreachable", { ...impatient, ...changed });
  expect([failure(bad), await containers("proxy")]).toEqual([[1, `culvert: web: ${got503}; ${kept}`], proxy]);
  const good = await up("first", changed);
  expect([good.code, await containers("proxy"), await running()], good.output).toEqual([0, proxy, "first"]);
  await takeWebDown();
  const back = await rollback("first", { RELEASE: `${project}@third`, ...changed });
  expect([back.code, await containers("proxy"), await running()], back.output).toEqual([0, proxy, "third"]);
});

test("a first start fails as well", async () => {
  const remove = ["docker", "compose", "rm", "--force", "--stop", "web", "proxy"];
  await must(remove);
  const unused = `culvert: web: ${got503}: 'make logs' shows more`;
  expect(failure(await up("unreachable", impatient))).toEqual([1, unused]);
  await must(remove);
  const { code, output } = await up("sick", { HEALTH_INTERVAL: "1s", BASE_PATH: "/shop", HEALTH_PATH: "/ready" });
  const healthFix = "set HEALTH_PATH to a path that answers below 500 (BASE_PATH goes before it)";
  const line = `culvert: web (running): GET /shop/ready: status 503: see 'docker compose logs web', or ${healthFix}`;
  expect([code, output.split("\n")]).toEqual([1, expect.arrayContaining([line])]);
});
