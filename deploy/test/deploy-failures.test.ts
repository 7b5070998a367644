import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { containers, get, ids, kept, releaseStack, running, underLoad } from "./releases/stack.ts";
import { compose, composeWith, impatient, must, run, temporary, withDocker, withServices } from "./run.ts";
import { makePair } from "./support/certificate.ts";
import { type Outcome, root } from "./support/docker.ts";

const { project, image, envFile, up, rollback } = releaseStack("failures", 1);
type Moment = { before?: string; after?: string };
/** Runs `make up` in a process group of its own, and `kill` before or after its first docker command like this. */
const interruptedUp = ({ before, after }: Moment, kill: string, settings: Record<string, string>) => {
  const client = `case "$*" in ${before ?? after}) rm "$0"; ${after ? '$client "$@";' : ""} ${kill} ;; *) exec $client "$@" ;; esac`;
  return run(["setsid", "--wait", "sh", "deploy/host/up.sh"], { ...withDocker(client), ...settings });
};
const detached = { after: "*' up --detach '*" };
const allContainers = async () => [await containers("proxy"), await containers("web")];
const stateOf = (service: string) => compose("ps", "--all", "--format={{.State}}", service);
const remove = () => compose("rm", "--force", "--stop", "web", "proxy");
const changed = { SERVER_NAME: "app.example.com" };
const invalid = { HSTS_MAX_AGE: "soon" };

const got503 = "the proxy got status 503 from the new container at <address>";
const soon = impatient(60, 2);
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
  ["another certificate's key", () => up("first", mixedPair), `^proxy: TLS_KEY_FILE .* is not the key of .*; ${kept}$`],
  ["a build that fails", () => up("second", withServices(noFile)), `^the build failed: the reason is above; ${kept}$`],
  ["an app that does not answer the proxy", () => up("unreachable", soon), `^web: ${got503}; ${kept}$`],
  ["a start page that is gone", () => up("broken"), `^web: ${answers404}; ${kept}$`],
  ["Ctrl-C", () => interruptedUp(detached, "kill -INT 0", { WEB_IMAGE: image("second") }), "^$", 130],
  ["a service that ends", () => up("first", withServices(crashing)), `^other .exited.: Error: no database\n${notAll}$`],
])("after %s, what runs keeps serving, and the reason is said", async (_, change, reason, code = 1) => {
  const before = await allContainers();
  const [result, failures] = await underLoad(change());
  expect(failure(result), result.output).toEqual([code, expect.stringMatching(reason)]);
  expect([failures, await allContainers(), await running()]).toEqual([[], before, "first"]);
});

// The last step in ARCHITECTURE.md, and when `kill -9` comes. $NEW is the started set.
const kills: Record<string, Moment> = {
  Build: { after: "'compose build'*" },
  "Try proxy": { after: "*' proxy render'" },
  "Start web": detached,
  "Replace: new container created": { after: "*' create '*" },
  "Replace: old container stopped": { after: "'stop -t 5 '*" },
  "Replace: new container healthy": { before: "'rm '*" },
  "Replace web: old release kept": { after: "*' web-previous'" },
  "Replace web: proxy asks the new set": { after: '*"sh $NEW"' },
  "Replace web: .env names the new set": { before: "'stop -t 20 '*" },
  "Replace web: old set stopped": { after: "'stop -t 20 '*" },
  "Start others": { after: "*' up --no-build '*" },
};
const table = readFileSync(`${root}ARCHITECTURE.md`, "utf8")
  .split("\n")
  .map((line) => line.slice(2).split(" | "));

test.each(Object.entries(kills))("after kill -9 at '%s', the next make up repairs the stack", async (step, moment) => {
  const [, runs, serves, repaired] = table.find(([first]) => first === step) ?? [];
  const old = await running();
  const wanted = old === "first" ? "second" : "first";
  const proxies = await containers("proxy");
  const stack = async () => {
    const [images, page] = [await ids("ps", `--filter=name=${project}-web`, "--format={{.Image}}"), await get("/")];
    const names = { [image(old as "first")]: "old", [image(wanted)]: "new" };
    const releases = images
      .map((name) => names[name] ?? "previous")
      .sort()
      .join(" ");
    return [releases, page === old ? "old" : page === wanted ? "new" : "nothing"];
  };
  const NEW = readFileSync(envFile, "utf8").includes("WEB_SET=b") ? "a" : "b";
  const settings = { WEB_IMAGE: image(wanted), ...changed, SKEW_KEEP: step.endsWith("kept") ? "10m" : "0", NEW };
  const [, failures] = await underLoad(interruptedUp(moment, "kill -KILL 0", settings));
  expect(await stack()).toEqual([runs, serves]);
  const list = await must(["sh", "deploy/host/list-releases.sh"]);
  if (repaired !== "new") expect(list).toMatch(new RegExp(`${image(old as "first")} .* running`));
  const repair = ". deploy/lib.sh; . deploy/host/stack.sh; lock_project; repair";
  const [{ code, output }, others] = await underLoad(run(["sh", "-euc", repair]));
  expect([code, await stack()], output).toEqual([0, [repaired, repaired?.slice(0, 3)]]);
  const isNew = (await containers("proxy")).map((id) => !proxies.includes(id));
  expect(isNew).toEqual([step.startsWith("Replace: ") ? step.endsWith("healthy") : expect.any(Boolean)]);
  // Without a proxy that listens, only connections are refused.
  expect([...failures, ...others].filter(({ reached }) => reached)).toEqual([]);
});

test("after interruptions, make up ends as without them; a proxy that is in another stack's network, too, is replaced", async () => {
  const zone = `${project}-z`;
  await run(["docker", "network", "create", `--label=com.docker.compose.project=${project}`, zone]);
  const service = `proxy: { networks: [zone] } }\nnetworks: { zone: { external: true, name: ${zone} }`;
  const { code, output } = await up("third", { ...changed, ...withServices(service) });
  expect([code, await running(), (await containers("web")).length], output).toEqual([0, "third", 1]);
  expect(await must(["docker", "inspect", ...(await containers("proxy"))])).toContain(`"${zone}": {`);
});

test("after a crash loop, make up accepts the corrected setting", async () => {
  await run(["docker", "compose", "up", "--detach", "--no-build"], { WEB_IMAGE: image("first"), ...invalid });
  await expect.poll(() => stateOf("proxy")).toBe("restarting");
  expect([(await up("first", changed)).code, await get("/healthz")]).toEqual([0, "first"]);
});

test("while web is down, neither a bad make up, a good one nor make rollback touches the proxy", async () => {
  const crashes = withServices('web: { command: ["false"] }');
  const takeWebDown = async () => {
    const restart = ["up", "--detach", "--no-build", "--no-deps", "--force-recreate", "web"];
    await composeWith({ WEB_IMAGE: image("first"), ...crashes, ...changed })(...restart);
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
  await remove();
  expect(failure(await up("unreachable", soon))).toEqual([1, `web: ${got503}: 'make logs' shows more`]);
  await remove();
  const taken = String(Number(process.env.HTTPS_PORT) - 1);
  const portFix = "stop what uses the port, or change HTTPS_PORT, HTTP_PORT or INGEST_PORT";
  expect(failure(await up("first", { HTTPS_PORT: taken }))).toEqual([
    1,
    expect.stringContaining(
      `proxy (created): Bind for <address>:${taken} failed: port is already allocated: ${portFix}`,
    ),
  ]);
});

test("on a first start, silence is waited for, until START_TIMEOUT; a wrong address is named at once", async () => {
  const start = async (NAME: string, settings = {}) => {
    await remove();
    const service = withServices(`web: { environment: { NAME: ${NAME} } }`);
    return up("first", { HEALTH_INTERVAL: "1s", ...service, ...settings });
  };
  const { code, output } = await start("late");
  expect([code, await get("/")], output).toEqual([0, "late"]);
  expect(output).toMatch(/^ {4}web: waiting for 1\d s: no answer yet, of at most 5m; its log: migrating$/m);
  const refused = "web: GET /healthz: connect ECONNREFUSED <address>:3000";
  const silent = `${refused}: nothing listens on port 3000: see 'docker compose logs web', or raise START_TIMEOUT`;
  const more = "'make logs' shows more";
  expect(failure(await start("late", { START_TIMEOUT: "2s" }))).toEqual([1, `${silent}: ${more}`]);
  const local = `${refused}, but localhost:3000 listens: the app must listen on port 3000 on all`;
  expect(failure(await start("local"))).toEqual([1, expect.stringContaining(local)]);
});
