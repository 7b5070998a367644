import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubernetes, root } from "./lib/paths.ts";
import { canRender, render } from "./lib/render.ts";

describe("make verify-cluster", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "culvert-kubectl-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const spoolImage = `r.example:5000/x/culvert-spool:1.2.3@sha256:${"0".repeat(64)}`;
  /** Runs the command with a kubectl that answers with these: names and fields of workloads, the Job's log, the output of diff. */
  const verify = (
    { proxy = "proxy ", spool = `spool ${spoolImage}`, log = "", diff = "" },
    env: NodeJS.ProcessEnv = {},
  ) => {
    const script = `#!/bin/sh
case "$*" in
  *" get deployment "*name=proxy*imagePullSecrets*) printf '%s' '${proxy}' ;;
  *" get statefulset "*name=spool*image*) printf '%s' '${spool}' ;;
  *" logs "*) printf '%s\\n' '${log}' ;;
  "diff "*) printf '%s' '${diff}'; [ -z '${diff}' ] ;;
esac`;
    writeFileSync(join(folder, "kubectl"), script);
    chmodSync(join(folder, "kubectl"), 0o755);
    const path = `${folder}:${process.env.PATH}`;
    const { status, stdout, stderr } = spawnSync("sh", [`${kubernetes}/verify.sh`], {
      encoding: "utf8",
      env: { ...process.env, NAMESPACE: "", OVERLAY: "", ...env, PATH: path },
    });
    return [status, `${stdout}${stderr}`.trim()];
  };
  const well = "ok       web: 3 available\nculvert: all is well";

  test("prints the Job's lines, and succeeds if they are all fine and no object differs from the overlay", () => {
    expect(verify({ log: well })).toEqual([0, well]);
  });

  test("fails if a check failed", () => {
    const failed = "FAILED   web: scaled to 0\nculvert: 1 of the checks failed";
    expect(verify({ log: failed })).toEqual([1, failed]);
  });

  test.each<[what: string, answers: Parameters<typeof verify>[0], env: NodeJS.ProcessEnv, line: RegExp]>([
    [
      "a Job that did not start",
      {},
      {},
      /verify: the Job ended early or did not start: IMAGE is r\.example:5000\/x\/culvert-spool:1\.2\.3@sha256:0{64}:/,
    ],
    [
      "a deployment without a spool",
      { spool: "" },
      {},
      /IMAGE: not set, and 'culvert' has no StatefulSet spool: IMAGE=</,
    ],
    ["a missing deployment", { proxy: "" }, { NAMESPACE: "shop" }, /NAMESPACE: 'shop' has no Deployment proxy/],
    ["a missing overlay", {}, { OVERLAY: "shop" }, /OVERLAY: there is no 'shop'/],
    [
      "a deleted policy",
      {
        log: well,
        diff: "diff -u -N /tmp/LIVE-1/networking.k8s.io.v1.NetworkPolicy.culvert.default-deny /tmp/MERGED-2/networking.k8s.io.v1.NetworkPolicy.culvert.default-deny\n",
      },
      {},
      /objects differ from the overlay: networking\.k8s\.io\.v1\.NetworkPolicy\.culvert\.default-deny : kubectl diff/,
    ],
    [
      "objects that cannot be compared",
      { log: well, diff: "error: forbidden" },
      {},
      /objects could not be compared: error: forbidden/,
    ],
  ])("fails with one line for %s", (_, answers, env, line) => {
    const [status, output] = verify(answers, env);
    expect([status, output]).toEqual([1, expect.stringMatching(line)]);
  });

  test("compares no overlay with NAMESPACE alone", () => {
    expect(verify({ log: well, diff: "diff -u x /tmp/MERGED-2/y" }, { NAMESPACE: "shop" })).toEqual([0, well]);
  });

  test.skipIf(!canRender)("applies the Job with namespace, image, pull secrets and options", () => {
    const options = { NAMESPACE: "shop", PAGE: "/products", EXPECT: "networkpolicies/web networkpolicies/proxy" };
    verify({ log: well, proxy: 'proxy [{"name":"registry"}]' }, options);
    const text = JSON.stringify(render(join(root, ".culvert/verify")));
    expect(text).toContain(`"image":"${spoolImage}"`);
    expect(text).toContain('"imagePullSecrets":[{"name":"registry"}]');
    expect(text).toContain('"subjects":[{"kind":"ServiceAccount","name":"culvert-verify","namespace":"shop"}]');
    expect(text).toContain('"EXPECT":"networkpolicies/web networkpolicies/proxy"');
    expect(text).toContain('"PAGE":"/products"');
    verify({ spool: "", log: well }, { IMAGE: "node:24" });
    expect(JSON.stringify(render(join(root, ".culvert/verify")))).toMatch(/"image":"node:24".*"imagePullSecrets":\[\]/);
  });
});
