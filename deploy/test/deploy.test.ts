import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type LoadRequest, send } from "./load.ts";
import {
  containers,
  expectUntouched,
  get,
  ids,
  kept,
  page,
  releaseStack,
  running,
  underLoad,
} from "./releases/stack.ts";
import { compose, composeWith, host, lastLine, must, run, temporary, withDocker, withServices } from "./run.ts";
import { IMAGES, type Outcome } from "./support/docker.ts";

const { project, image, envFile, releasesFile, up, rollback, saved, save } = releaseStack("deploy", 3);
const shortId = async (release: "first" | "broken") =>
  (await must(["docker", "image", "inspect", "--format={{.Id}}", image(release)])).slice(7, 19);
const scale = (count: number) => {
  const options = ["--detach", "--no-build", "--no-recreate", "--wait", `--scale=web=${count}`];
  return composeWith({ WEB_IMAGE: image("first") })("up", ...options, "web");
};

const pages = [page("/slow"), page("/healthz")];
const forms: LoadRequest[] = pages.map((request) => ({ ...request, name: `form ${request.path}`, body: "a=1" }));
/** As many as fit, forms among them, which are not sent twice. */
const underForms = (change: Promise<Outcome>) =>
  underLoad(change, [...pages, ...forms], { connections: 16, pauseMs: 0 });

const previous = () => ids("ps", "--quiet", `--filter=name=${project}-web-previous`);
const pageOf = (release: string) => page(`/name?dpl=${release}`);
const answersFor = (...names: string[]) => Promise.all(names.map((release) => send(pageOf(release))));

test("with the image that runs, a setting may change the start page", async () => {
  const { code, output } = await up("first", { CONSOLE: "off" });
  expect([code, await get("/", 404)], output).toEqual([0, "first"]);
  expect(output).toMatch(/^ {4}only in this shell: .*CONSOLE.* WEB_IMAGE \(put what is to last into .*env\)$/m);
});

test("a release replaces two replicas after their last requests; what is rolled back stays so", async () => {
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

  expect(saved()).toBe(`WEB_IMAGE=${image("first")}\nSENTRY_RELEASE=${project}@first\n`);
  const log = temporary("calls", "");
  const counted = withDocker(`set -f; echo $* >>${log}; exec $client "$@"`);
  const again = await run(["make", "up"], { ACME: "", TUNNEL_RATE_PER_CLIENT: "", ...counted });
  expect(again.output).toContain("up to date: spool proxy web");
  expect([again.code, await containers("web")]).toEqual([0, current]);
  const calls = (like: RegExp) =>
    readFileSync(log, "utf8")
      .split("\n")
      .filter((call) => like.test(call)).length;
  // Those of make doctor, too. Nothing is written into the proxy.
  const bounds = [calls(/./) <= 35, calls(/ config( |$)/) <= 3, calls(/ exec /), calls(/^compose logs /)];
  expect(bounds, readFileSync(log, "utf8")).toEqual([true, true, 0, 1]);

  const list = await must(["sh", "deploy/host/list-releases.sh"]);
  expect(list).toMatch(new RegExp(`^${await shortId("broken")} +${image("broken")} +second .*  undone$`, "m"));
  expect(list).toMatch(new RegExp(`^${await shortId("first")} +${image("first")} +${project}@first .*  running$`, "m"));
  expect(list.split("\n")).toHaveLength(1 + 6);
  const said = async (RELEASE: string) => (await rollback("broken", { RELEASE })).output;
  expect(await said("older-1")).toContain("'older-1' is not kept: make releases lists those that are");
  expect(await said(`${project}@first`)).toMatch(/ is already running: make releases lists the others/);
  await scale(1);
});

test("a release that is replaced or rolled back goes on for its own pages, and ends by itself", async () => {
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
});

test("a tag that has become another image is another release; make rollback gets back to the first one", async () => {
  save(`WEB_IMAGE=${project}:moving\n`);
  // With settings of its own, which web must have.
  const lines = `FROM ${image("second")}\\nENV SENTRY_RELEASE="own 1" SENTRY_ENVIRONMENT="blue green"\\n`;
  await must(["sh", "-c", `printf '${lines}' | docker build --tag ${project}:moving -`]);
  const printed = ["printenv", "SENTRY_RELEASE", "SENTRY_ENVIRONMENT"];
  const variables = () => compose("exec", "-T", "web", ...printed);
  expect((await host("up")).code).toBe(0);
  expect(await variables()).toBe("own 1\nblue green");
  await expectUntouched();
  await must(["docker", "tag", image("third"), `${project}:moving`]);
  expect((await host("up")).code).toBe(0);
  expect(await running()).toBe("third");
  expect((await host("rollback")).output).toMatch(/==> Back to \w{12} \(.*:moving, own 1\)\n/);
  expect([await running(), saved()]).toEqual([
    "second",
    expect.stringMatching(new RegExp(`^WEB_IMAGE=${project}-web:[0-9a-f]{12}\n$`)),
  ]);
  expect(await variables()).toBe("own 1\nblue green");
  await expectUntouched();
  expect((await host("up")).output).toContain("up to date: spool proxy web");
});

test("without WEB_IMAGE, what was built before is put back, and stays until WEB_TAG is removed", async () => {
  const sources = withServices('web: { build: { context: deploy/test/releases, args: ["NAME"] } }');
  const built = (NAME: string, script = "up") => host(script, { ...sources, NAME, CONTENT_SECURITY_POLICY: "off" });
  const typed = { ...sources, CONTENT_SECURITY_POLICY: "off" };
  for (const name of ["one", "two"]) expect((await built(name)).code).toBe(0);
  expect((await built("two", "rollback")).code).toBe(0);
  await expectUntouched(typed);
  expect([await running(), saved()]).toEqual(["one", expect.stringMatching(/^WEB_TAG=[0-9a-f]{12}\n$/)]);
  const again = await built("two");
  const stays = /web stays at \w{12}, which make rollback has put back: to build web\/ again, remove /;
  for (const line of [stays, /up to date: spool proxy web/]) expect(again.output).toMatch(line);
  save("WEB_TAG=0.9\n");
  const gone = `culvert: WEB_TAG: ${project}-web:0.9 is not on this machine: remove WEB_TAG from ${envFile} to build web/; ${kept}`;
  expect(lastLine((await built("two")).output)).toBe(gone);
});
