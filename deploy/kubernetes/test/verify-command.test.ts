import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubernetes, root } from "./lib/paths.ts";
import { canRender, render } from "./lib/render.ts";

const image = `r.example:5000/x/culvert-spool:1.2.3@sha256:${"0".repeat(64)}`;
const well = "ok       web: 3 available\nculvert: all is well";
const failed = "FAILED   web: scaled to 0\nculvert: 1 of the checks failed";
const policy = "networking.k8s.io.v1.NetworkPolicy.culvert.default-deny";
const diff = `diff -u -N /tmp/LIVE-1/${policy} /tmp/MERGED-2/${policy}\n`;

describe("make verify-cluster", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "culvert-kubectl-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Runs the command with a kubectl that answers with these: names and fields of workloads, the Job's log, the output of diff. */
  const verify = (
    { proxy = "proxy ", spool = `spool ${image}`, log = well, diff = "" },
    env: NodeJS.ProcessEnv = {},
  ) => {
    const script = `#!/bin/sh
case "$*" in
  *" get deployment "*name=proxy*imagePullSecrets*) printf '%s' '${proxy}' ;;
  *" get statefulset "*name=spool*image*) printf '%s' '${spool}' ;;
  *" logs "*) printf '%s\\n' '${log}' ;;
  "diff "*) printf '%s' '${diff}'; [ -z '${diff}' ] ;;
esac`;
    writeFileSync(join(folder, "kubectl"), script, { mode: 0o755 });
    const path = `${folder}:${process.env.PATH}`;
    const { status, stdout, stderr } = spawnSync("sh", [`${kubernetes}/verify.sh`], {
      encoding: "utf8",
      env: { ...process.env, NAMESPACE: "", OVERLAY: "", ...env, PATH: path },
    });
    return [status, `${stdout}${stderr}`.trim()];
  };

  test.each<
    [what: string, answers: Parameters<typeof verify>[0], env: NodeJS.ProcessEnv, status: number, line: RegExp]
  >([
    ["prints the Job's lines", {}, {}, 0, new RegExp(`^${well}$`)],
    ["fails if a check failed", { log: failed }, {}, 1, new RegExp(`^${failed}$`)],
    ["fails if the Job did not start", { log: "" }, {}, 1, new RegExp(`the Job ended early .*: IMAGE is ${image}:`)],
    ["needs a spool or an IMAGE", { spool: "" }, {}, 1, /IMAGE: not set, and 'culvert' has no StatefulSet spool/],
    ["needs a deployment", { proxy: "" }, { NAMESPACE: "shop" }, 1, /NAMESPACE: 'shop' has no Deployment proxy/],
    ["needs an overlay that exists", {}, { OVERLAY: "shop" }, 1, /OVERLAY: there is no 'shop'/],
    ["names a deleted policy", { diff }, {}, 1, new RegExp(`differ from the overlay: ${policy} : kubectl diff`)],
    ["fails if it cannot compare", { diff: "error: forbidden" }, {}, 1, /could not be compared: error: forbidden/],
    ["compares no overlay with NAMESPACE alone", { diff }, { NAMESPACE: "shop" }, 0, new RegExp(`^${well}$`)],
  ])("%s", (_, answers, env, status, line) => {
    expect(verify(answers, env)).toEqual([status, expect.stringMatching(line)]);
  });

  test.skipIf(!canRender)("applies the Job with namespace, image, pull secrets and options", () => {
    const applied = () => JSON.stringify(render(join(root, ".culvert/verify")));
    const options = { NAMESPACE: "shop", PAGE: "/products", EXPECT: "networkpolicies/web networkpolicies/proxy" };
    verify({ proxy: 'proxy [{"name":"registry"}]' }, options);
    for (const text of [
      `"image":"${image}"`,
      '"imagePullSecrets":[{"name":"registry"}]',
      '"subjects":[{"kind":"ServiceAccount","name":"culvert-verify","namespace":"shop"}]',
      '"EXPECT":"networkpolicies/web networkpolicies/proxy"',
      '"PAGE":"/products"',
    ])
      expect(applied()).toContain(text);
    verify({ spool: "" }, { IMAGE: "node:24" });
    expect(applied()).toMatch(/"image":"node:24".*"imagePullSecrets":\[\]/);
  });
});
