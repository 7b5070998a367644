import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { must, run } from "./run.ts";
import { root } from "./support/docker.ts";

// A clone of this tree, which is its origin/main.
const clone = mkdtempSync(join(tmpdir(), "culvert check-"));
afterAll(() => rmSync(clone, { recursive: true }));

const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x", ...args], { cwd: clone, encoding: "utf8" });
const check = () => run(["sh", join(clone, "deploy/test/check.sh")]);

beforeAll(async () => {
  const files = "git ls-files -z --cached --others --exclude-standard";
  await must([
    "sh",
    "-c",
    `${files} | tar --null --files-from=- --ignore-failed-read -c | tar -x -C "$1"`,
    "sh",
    clone,
  ]);
  for (const project of ["deploy/test", "deploy/kubernetes/test"])
    symlinkSync(join(root, project, "node_modules"), join(clone, project, "node_modules"));
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "as it is");
  git("update-ref", "refs/remotes/origin/main", "HEAD");
});

test("make check has nothing to do where nothing differs from origin/main", async () => {
  expect(await check()).toEqual({ code: 0, output: "nothing differs from origin/main\n" });
});

test("make check is green for a change of the chart without a fault", async () => {
  const template = join(clone, "deploy/chart/templates/web.yaml");
  const before = readFileSync(template);
  appendFileSync(template, "{{- /* Without a fault. */}}\n");
  const { code, output } = await check();
  writeFileSync(template, before);
  expect(code, output).toBe(0);
});

test("make check is red for a fault in each kind of file, committed or not, and names what it cannot check", async () => {
  const faults: [file: string, text: string, found: RegExp][] = [
    ["proxy/templates/routes/websocket.conf", "planted_in_nginx on;\n", /unknown directive "planted_in_nginx"/],
    [
      "deploy/kubernetes/components/http3/kustomization.yaml",
      "  - path: planted.yaml\n",
      /planted\.yaml|skipped: kubectl kustomize/,
    ],
    [
      "deploy/chart/templates/web.yaml",
      "{{ plantedInChart }}\n",
      /function "plantedInChart" not defined|skipped: helm template/,
    ],
    ["deploy/checks/host/settings.ts", "export const planted: number = '';\n", /not assignable to type 'number'/],
    ["deploy/host/notify.sh", "for planted in; do\n", /notify\.sh|skipped: shell scripts/],
    ["README.md", "\n[Planted](planted.md)\n", /planted\.md/],
    ["docker-compose.yml", "planted: true\n", /failed: docker-compose\.yml/],
  ];
  for (const [file, text] of faults) appendFileSync(join(clone, file), text);
  git("commit", "-qam", "faults");
  const constant = join(clone, "deploy/checks/host/delivery.ts");
  writeFileSync(constant, readFileSync(constant, "utf8").replace("MAX_WAIT_S = 300", "MAX_WAIT_S = 30_000"));
  writeFileSync(join(clone, "deploy/front/planted.conf"), "");
  const { code, output } = await check();
  for (const [, , found] of faults) expect(output).toMatch(found);
  expect(output).toMatch(/failed: deploy\/test: unit tests$/m);
  expect(output).toMatch(/^ +only make test checks deploy\/front\/planted\.conf$/m);
  expect(code).toBe(1);
});
