import { expect, test } from "vitest";
import { containers, get, kept, releaseStack, running, underLoad } from "./releases/stack.ts";
import { impatient, lastLine, must, run, temporary, withDocker, withServices } from "./run.ts";
import { makePair } from "./support/certificate.ts";
import type { Outcome } from "./support/docker.ts";

const { project, image, up, rollback } = releaseStack("failures", 1);
/** Runs `make up` in a process group of its own, and `hook` after its first docker command that contains `text`. */
const interruptedUp = (text: string, hook: string, settings: Record<string, string>) => {
  const client = `$client "$@"; ended=$?; case "$*" in *"${text}"*) rm "$0"; ${hook} ;; esac; exit $ended`;
  return run(["setsid", "--wait", "sh", "deploy/host/up.sh"], { ...withDocker(client), ...settings });
};
const allContainers = async () => [await containers("proxy"), await containers("web")];
const stateOf = (service: string) => must(["docker", "compose", "ps", "--all", "--format={{.State}}", service]);
const changed = { SERVER_NAME: "app.example.com" };
const invalid = { HSTS_MAX_AGE: "soon" };
const isUp = async () => typeof (await get("/healthz")) === "string";

const got503 = "the proxy got status 503 from the new container at <address>";
const soon = impatient(60, 8);
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
    await must(restart, { WEB_IMAGE: image("first"), ...crashes, ...changed });
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
  const taken = String(Number(process.env.HTTPS_PORT) - 1);
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
  const line = `web: GET /shop/ready: status 503: see 'docker compose logs web', or ${healthFix}: 'make logs' shows more`;
  expect([code, lastLine(output)]).toEqual([1, `culvert: ${line}`]);
});

test("on a first start, silence is waited for, until START_TIMEOUT; a wrong address is named at once", async () => {
  const start = async (NAME: string, settings = {}) => {
    await must(["docker", "compose", "rm", "--force", "--stop", "web", "proxy"]);
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
