import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { endLoad, type LoadRequest, load, send } from "./load.ts";
import { impatient, lastLine, must, run, temporary, withDocker, withServices } from "./run.ts";
import { makePair } from "./support/certificate.ts";
import { IMAGES, type Outcome, projectName, root } from "./support/docker.ts";
import { buildImage } from "./support/images.ts";

// A stack of its own: the tested proxy, and releases that are healthy; server.cjs says what else they are.
const project = projectName("deploy");
const releases = ["first", "second", "third", "broken", "sick", "unreachable"] as const;
type Release = (typeof releases)[number];
type Settings = Record<string, string>;
const image = (release: Release) => `${project}:${release}`;
/** A release's name in `make releases`. */
const shortId = async (release: Release) =>
  (await must(["docker", "image", "inspect", "--format={{.Id}}", image(release)])).slice(7, 19);
const running = () => must(["docker", "compose", "exec", "-T", "web", "printenv", "NAME"]);

const host = (script: string, settings: Settings = {}) => run(["sh", `deploy/host/${script}.sh`], settings);
const up = (release: Release, settings?: Settings) => host("up", { WEB_IMAGE: image(release), ...settings });
const rollback = (release: Release, settings?: Settings) =>
  host("rollback", { WEB_IMAGE: image(release), ...settings });
/** Runs `make up` in a process group of its own, and `hook` after its first docker command that contains `text`. */
const interruptedUp = (text: string, hook: string, settings: Settings) => {
  const client = `$client "$@"; ended=$?; case "$*" in *"${text}"*) rm "$0"; ${hook} ;; esac; exit $ended`;
  return run(["setsid", "--wait", "sh", "deploy/host/up.sh"], { ...withDocker(client), ...settings });
};
const scale = (count: number) => {
  const options = ["--detach", "--no-build", "--no-recreate", "--wait", `--scale=web=${count}`];
  return must(["docker", "compose", "up", ...options, "web"], { WEB_IMAGE: image("first") });
};

/** The settings, as an operator's .env. */
const envFile = temporary("env", "");
const written = () => readFileSync(envFile, "utf8");
/** What else than the set that serves is in it. */
const saved = () => written().replace(/^WEB_SET=.*\n/gm, "");
const save = (text: string) => writeFileSync(envFile, `${written().match(/^WEB_SET=.*\n/m)?.[0] ?? ""}${text}`);
/** What make rollback reads: a line for each release, the last deployed last. */
const releasesFile = join(root, ".culvert", `${project}.releases`);

const ids = async (...command: string[]) => (await must(["docker", ...command])).split("\n").filter(Boolean).sort();
/** The containers, exited ones included. */
const containers = (service: string) => ids("compose", "ps", "--all", "--quiet", service);
const allContainers = async () => [await containers("proxy"), await containers("web")];
const stateOf = (service: string) => must(["docker", "compose", "ps", "--all", "--format={{.State}}", service]);
/** A setting with which the proxy is replaced. */
const changed = { SERVER_NAME: "app.example.com" };
const invalid = { HSTS_MAX_AGE: "soon" };
const get = (path: string, status = 200) => send({ ...page(path), status });
const isUp = async () => typeof (await get("/healthz")) === "string";

/** Requests the health check and these until `change` is finished; returns its result and the failures. */
async function underLoad(
  change: Promise<Outcome>,
  requests: LoadRequest[] = [],
  speed = { connections: 1, pauseMs: 25 },
) {
  const { result, failures } = await load([page("/healthz"), ...requests], change, speed);
  return [result, failures] as const;
}
const page = (path: string): LoadRequest => ({ name: path, path, status: 200 });
const pages = [page("/slow"), page("/healthz")];
const forms = pages.map((one) => ({ ...one, name: `form ${one.path}`, body: "a=1" }));
/** As many as fit, forms among them, which are not sent twice. */
const underForms = (change: Promise<Outcome>) =>
  underLoad(change, [...pages, ...forms], { connections: 16, pauseMs: 0 });

/** The containers of releases that are kept for open pages. */
const previous = () => ids("ps", "--quiet", `--filter=name=${project}-web-previous`);
/** What a page of a release requests. */
const pageOf = (release: string) => page(`/name?dpl=${release}`);
const answersFor = (...names: string[]) => Promise.all(names.map((release) => send(pageOf(release))));

beforeAll(async () => {
  vi.stubEnv("IMAGES", IMAGES);
  vi.stubEnv("COMPOSE_PROJECT_NAME", project);
  vi.stubEnv("COMPOSE_FILE", "docker-compose.yml:deploy/test/releases.compose.yml");
  vi.stubEnv("HTTPS_PORT", String(Number(process.env.HTTPS_PORT) + 3));
  vi.stubEnv("HTTP_PORT", String(Number(process.env.HTTP_PORT) + 3));
  vi.stubEnv("SENTRY_RELEASE", undefined);
  vi.stubEnv("COMPOSE_ENV_FILES", envFile);
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
  // By their names: another run may have the same images.
  const images = `docker image ls --format '{{.Repository}}:{{.Tag}}' --filter=reference='${project}*'`;
  await run(["sh", "-c", `docker image rm $(${images})`]);
  rmSync(releasesFile);
});

const kept = "nothing was replaced, what runs keeps serving";
const got503 = "the proxy got status 503 from the new container at <address>";
/** Waits for an app's answer for eight seconds instead of a minute. */
const soon = impatient(60, 8);
/** What `make up` says is wrong, with its exit status. */
const failure = ({ code, output }: Outcome) => [
  code,
  (output.match(/(?<=^culvert: ).*/gm) ?? []).join("\n").replace(/\b(?!127)(?:\d+\.){3}\d+\b/g, "<address>"),
];
const answers404 = "/ answers 404, and 200 from what runs: if this is intended, set ALLOW_CHANGED_ANSWERS=on";
const pair = temporary("pair", "");
for (const base of [pair, `${pair}-2`]) makePair(base, ["localhost"]);
const mixedPair = { TLS_CERT_FILE: `${pair}.crt`, TLS_KEY_FILE: `${pair}-2.key` };
const noFile = "web: { build: { dockerfile: none } }";
const crash = "throw Object.assign(Error('no database'), { code: 'ECONNREFUSED', port: 5432 })";
const ends = `image: node:24-trixie-slim, network_mode: none, command: [node, -e, "${crash}"]`;
const crashing = `other: { ${ends}, healthcheck: { test: [CMD, "true"] } }`;
const notAll = "not every service runs: the reason is above; what runs keeps serving";

test.each<[string, () => Promise<Outcome>, reason: string, code?: number]>([
  ["an invalid setting", () => up("first", invalid), "^proxy: HSTS_MAX_AGE 'soon' .*; nothing was replaced"],
  ["one that web only has", () => up("second", { BASE_PATH: "x" }), "^proxy: BASE_PATH 'x' .*; nothing was replaced"],
  ["another certificate's key", () => up("first", mixedPair), `^proxy: TLS_KEY_FILE .* is not the key of .*; ${kept}$`],
  ["a build that fails", () => up("second", withServices(noFile)), `^the build failed: the reason is above; ${kept}$`],
  ["an app that does not answer the proxy", () => up("unreachable", soon), `^web: ${got503}; ${kept}$`],
  ["a start page that is gone", () => up("broken"), `^web: ${answers404}; ${kept}$`],
  ["Ctrl-C", () => interruptedUp(" up --detach ", "kill -INT 0", { WEB_IMAGE: image("second") }), "^$", 130],
  ["a service that ends", () => up("first", withServices(crashing)), `^other .exited.: Error: no database\n${notAll}$`],
])("after %s, what runs keeps serving, and the reason is said", async (_, change, reason, code = 1) => {
  const before = await allContainers();
  const [result, failures] = await underLoad(change());
  expect(failure(result), result.output).toEqual([code, expect.stringMatching(reason)]);
  expect([failures, await allContainers(), await running()]).toEqual([[], before, "first"]);
});

test("with the image that runs, only the health check is compared: a setting may change the start page", async () => {
  const off = await up("first", { CONSOLE: "off" });
  expect([off.code, await get("/", 404)], off.output).toEqual([0, "first"]);
  expect(off.output).toMatch(/^ {4}only in this shell: .*CONSOLE.* WEB_IMAGE \(put what is to last into .*env\)$/m);
  const on = await up("first");
  expect([on.code, await get("/")], on.output).toEqual([0, "first"]);
});

test("a release replaces two replicas, after their last requests; what make rollback undoes stays undone", async () => {
  await scale(2);
  const old = await containers("web");
  const other = await must(["docker", "image", "inspect", "--format={{.Id}}", `${IMAGES}-proxy`]);
  const older = [1, 2, 3, 4, 5, 6].map((day) => `older-${day} ${other} ${project}:older - 2020-01-0${day}T00:00:00\n`);
  writeFileSync(releasesFile, older.join("") + readFileSync(releasesFile, "utf8"));
  save(`WEB_IMAGE=${image("broken")} # the next one\nSENTRY_RELEASE=second\n`);
  const [{ code, output }, failures] = await underForms(up("broken", { ALLOW_CHANGED_ANSWERS: "on" }));
  expect([code, failures, await running()], output).toEqual([0, [], "broken"]);
  const [undone, others] = await underForms(rollback("broken"));
  expect([undone.code, others], undone.output).toEqual([0, []]);
  const current = await containers("web");
  expect([await running(), current.length, current.filter((id) => old.includes(id))]).toEqual(["first", 2, []]);

  // The next make up does not bring it back.
  expect(saved()).toBe(`WEB_IMAGE=${image("first")}\nSENTRY_RELEASE=${project}@first\n`);
  const again = await host("up", { ACME: "", TUNNEL_RATE_PER_CLIENT: "" });
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
  const [{ code, output }, failures] = await underLoad(up("second", { SKEW_KEEP: "10m" }), [pageOf("first")]);
  expect([code, failures], output).toEqual([0, []]);
  expect(await answersFor("first", "second", "gone")).toEqual(["first", "second", "second"]);
  // Nothing starts it again after a crash or a restart of the machine.
  const restarts = ["inspect", "--format={{.HostConfig.RestartPolicy.Name}}", ...(await previous())];
  expect(await ids(...restarts)).toEqual(["no"]);

  const [, others] = await underLoad(rollback("second", { SKEW_KEEP: "10m" }), [pageOf("second")]);
  expect([others, await running()]).toEqual([[], "first"]);
  expect([await answersFor("first", "second"), (await previous()).length]).toEqual([["first", "second"], 1]);

  const short = await up("third", { SKEW_KEEP: "5s" });
  expect(short.output).toContain("open pages keep their release for 5s");
  await expect.poll(() => answersFor("first")).toEqual(["third"]);
  await expect.poll(previous).toEqual([]);
  expect((await rollback("third", { SKEW_KEEP: "0" })).code).toBe(0);
  expect(await previous()).toEqual([]);
});

test("a tag that has become another image is another release; make rollback gets back to the first one", async () => {
  const moving = () => host("up", { WEB_IMAGE: `${project}:moving` });
  // With settings of its own, which web must have.
  const lines = `FROM ${image("second")}\\nENV SENTRY_RELEASE=own@1 SENTRY_ENVIRONMENT="blue green"\\n`;
  await must(["sh", "-c", `printf '${lines}' | docker build --tag ${project}:moving -`]);
  const printed = ["printenv", "SENTRY_RELEASE", "SENTRY_ENVIRONMENT"];
  const own = () => must(["docker", "compose", "exec", "-T", "web", ...printed]);
  expect((await moving()).code).toBe(0);
  expect(await own()).toBe("own@1\nblue green");
  await must(["docker", "tag", image("third"), `${project}:moving`]);
  expect((await moving()).code).toBe(0);
  expect(await running()).toBe("third");
  save(`WEB_IMAGE=${project}:moving\n`);
  expect((await host("rollback")).output).toMatch(/==> Back to \w{12} \(.*:moving, own@1\)\n/);
  expect([await running(), saved()]).toEqual([
    "second",
    expect.stringMatching(new RegExp(`^WEB_IMAGE=${project}-web:[0-9a-f]{12}\n$`)),
  ]);
  expect(await own()).toBe("own@1\nblue green");
  expect((await host("up")).output).toContain("up to date: spool proxy web");
});

test("without WEB_IMAGE, what was built before is put back, and stays until WEB_TAG is removed", async () => {
  const sources = withServices('web: { build: { context: deploy/test/releases, args: ["NAME"] } }');
  const built = (NAME: string, script = "up") => host(script, { ...sources, NAME, CONTENT_SECURITY_POLICY: "off" });
  for (const name of ["one", "two"]) expect((await built(name)).code).toBe(0);
  expect((await built("two", "rollback")).code).toBe(0);
  expect([await running(), saved()]).toEqual(["one", expect.stringMatching(/^WEB_TAG=[0-9a-f]{12}\n$/)]);
  const again = await built("two");
  const stays = /web stays at \w{12}, which make rollback has put back: to build web\/ again, remove /;
  for (const line of [stays, /up to date: spool proxy web/]) expect(again.output).toMatch(line);
  save("WEB_TAG=0.9\n");
  const gone = `culvert: WEB_TAG: ${project}-web:0.9 is not on this machine: remove WEB_TAG from ${envFile} to build web/; ${kept}`;
  expect(lastLine((await built("two")).output)).toBe(gone);
  save("");
  expect((await up("first")).code).toBe(0);
});

test("what kill -9 leaves is put in order by the next make up", async () => {
  const [proxy = ""] = await containers("proxy");
  const settings = { WEB_IMAGE: image("third"), ...changed };
  await interruptedUp("stop -t", "kill -KILL 0", settings);
  // The old proxy has released the ports.
  expect(await containers("proxy")).toHaveLength(2);
  expect(await isUp()).toBe(false);

  await interruptedUp(" up --detach ", "kill -KILL 0", settings);
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
  await expect.poll(() => stateOf("proxy")).toBe("restarting");
  expect((await up("first", changed)).code).toBe(0);
  expect(await isUp()).toBe(true);
});

test("a proxy in one more network, which is another stack's, is replaced", async () => {
  const create = ["docker", "network", "create", `--label=com.docker.compose.project=${project}`, `${project}-z`];
  const network = await must(create);
  const zone = `proxy: { networks: [zone] } }\nnetworks: { zone: { external: true, name: ${project}-z }`;
  const { code, output } = await up("first", { ...changed, ...withServices(zone) });
  expect(code, output).toBe(0);
  expect(await must(["docker", "inspect", ...(await containers("proxy"))])).toContain(network);
  expect([(await up("first", changed)).code, await isUp()]).toEqual([0, true]);
});

test("while web is down, neither a bad make up, a good one nor make rollback touches the proxy", async () => {
  const crashes = withServices('web: { command: ["false"] }');
  const takeWebDown = async () => {
    const restart = ["docker", "compose", "up", "--detach", "--no-build", "--no-deps", "--force-recreate", "web"];
    await must(restart, { ...crashes, ...changed });
    await expect.poll(() => stateOf("web")).toMatch(/restarting/);
  };
  const proxy = await containers("proxy");
  await takeWebDown();
  const bad = await up("unreachable", { ...soon, ...changed });
  expect([failure(bad), await containers("proxy")]).toEqual([[1, `web: ${got503}; ${kept}`], proxy]);
  const good = await up("first", changed);
  expect([good.code, await containers("proxy"), await running()], good.output).toEqual([0, proxy, "first"]);
  await takeWebDown();
  const back = await rollback("first", { RELEASE: `${project}@third`, ...changed });
  expect([back.code, await containers("proxy"), await running()], back.output).toEqual([0, proxy, "third"]);
});

test("a first start fails as well", async () => {
  const remove = ["docker", "compose", "rm", "--force", "--stop", "web", "proxy"];
  await must(remove);
  expect(failure(await up("unreachable", soon))).toEqual([1, `web: ${got503}: 'make logs' shows more`]);
  await must(remove);
  const taken = String(Number(process.env.HTTPS_PORT) - 3);
  const portFix = "stop what uses the port, or change HTTPS_PORT, HTTP_PORT or INGEST_PORT";
  expect(failure(await up("first", { HTTPS_PORT: taken }))).toEqual([
    1,
    expect.stringContaining(
      `proxy (created): Bind for <address>:${taken} failed: port is already allocated: ${portFix}`,
    ),
  ]);
  await must(remove);
  const { code, output } = await up("sick", { HEALTH_INTERVAL: "1s", BASE_PATH: "/shop", HEALTH_PATH: "/ready" });
  const healthFix = "set HEALTH_PATH to a path that answers below 500 (BASE_PATH goes before it)";
  const line = `culvert: web (running): GET /shop/ready: status 503: see 'docker compose logs web', or ${healthFix}`;
  expect([code, output.split("\n")]).toEqual([1, expect.arrayContaining([line])]);
});
