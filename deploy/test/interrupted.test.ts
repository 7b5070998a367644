import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { run } from "./run.ts";
import { root } from "./support/docker.ts";

// Moments of an interrupted deployment that only shell functions in place of the engine can hold still.
const folder = mkdtempSync(join(tmpdir(), "culvert-interrupted-"));
const note = join(folder, ".culvert/x.replaced");
beforeEach(() => mkdirSync(join(folder, ".culvert"), { recursive: true }));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a script with the functions of a deployment: container `old` runs, and `new` is to replace it. */
function shell(script: string) {
  const here = `${root}/deploy/host`;
  const prelude = `cd '${folder}'; here='${here}'; for file in lib rolling upgrade bake; do . "$here/$file.sh"; done
    project=x old=old new=new old_image=; docker() { echo "docker $*" >&2; }; put_names_back() { :; }
    containers() { printf 'old\\nnew\\n'; }; state() { echo running healthy; }; remove_gracefully() { echo "removed $*"; }`;
  return run(["sh", "-euc", `${prelude}\n${script}`]);
}

test("a release that was being stopped is not kept, although its containers still look healthy", async () => {
  writeFileSync(note, "old\nstarted\n");
  await shell("remove_gracefully() { kill -KILL $$; }; stop_replaced");
  const { output } = await shell("repair_web; echo undone=$undone");
  expect(output).toMatch(/^removed old\nundone=$/m);
  expect(existsSync(note)).toBe(false);
});

test.each([
  ["is undone", "", false],
  ["leaves what an earlier interruption has left", "old\nstarted\n", true],
])("a deployment whose output nobody reads any more %s", async (_, earlier, isKept) => {
  writeFileSync(note, earlier);
  const { output } = await shell(
    "{ begin; undo_at_exit 'touch undone'; while :; do say line; done; } 2>&1 | true; ls undone; rm undone",
  );
  expect(output).toBe("undone\n");
  expect(existsSync(note) && readFileSync(note, "utf8")).toBe(isKept && earlier);
});

test("the only proxy is started again if an interruption has left it stopped, and not otherwise", async () => {
  const script = "containers() { echo proxy-1; }; repair_proxy";
  writeFileSync(note, "");
  expect((await shell(script)).output).toBe("");
  writeFileSync(note, "old\n");
  expect((await shell(script)).output).toBe("docker start proxy-1\n");
});

test("after a failed change of the ports, no signal is obeyed until the old proxy has them again", async () => {
  const script = `docker() { case $1 in start) kill -TERM $$; echo started ;; compose) echo old ;; esac; }
    start_inside() { :; }; publish() { return 1; }; remove_new_proxy() { :; }; begin; replace_proxy || echo failed`;
  expect((await shell(script)).output).toBe("failed\n");
});

test("the watch does not undo the release that has replaced the watched one", async () => {
  const script = `containers() { echo other; }; docker() { :; }; bake() { problem=5xx; return 1; }
    bake_time_s=1 rollback_on_errors=on; watch`;
  const { code, output } = await shell(script);
  expect(output).toContain("another make deploy or rollback has replaced this release: no longer watched\n");
  expect(code).toBe(0);
});
