import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { find } from "./lib/objects.ts";
import { kubernetes, root } from "./lib/paths.ts";
import { canRender, render } from "./lib/render.ts";

const image = `r.example:5000/x/culvert-spool:1.2.3@sha256:${"0".repeat(64)}`;
const early = "Error from server (BadRequest): container is waiting to start: ContainerCreating";
const well = "✓ web             3 available\nculvert: all is well";
const failed = "✗ web             scaled to 0\nculvert: 1 of the checks failed";
/** What kubectl prints of an object that the cluster has, or has not. */
const diffOf = (object: string, hunk: string) =>
  `diff -u -N /tmp/LIVE-1/${object} /tmp/MERGED-2/${object}\n--- /tmp/LIVE-1/${object}\t1970\n+++ x\n@@ ${hunk} @@\n+x\n`;
const changed = diffOf("v1.ConfigMap.culvert.proxy.settings", "-3,4 +3,4") + diffOf("v1.Namespace..culvert", "-1 +1");
const diff = changed + diffOf("networking.k8s.io.v1.NetworkPolicy.culvert.default-deny", "-0,0 +1,20");

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
  *" logs "*) [ -e '${folder}/started' ] || { touch '${folder}/started'; echo '${early}' >&2; exit 1; }
    printf '%s\\n' '${log}' ;;
  "diff "*) printf '%s' '${diff}'; [ -z '${diff}' ] ;;
esac`;
    writeFileSync(join(folder, "kubectl"), script, { mode: 0o755 });
    // It waits for nothing.
    writeFileSync(join(folder, "sleep"), "#!/bin/sh\n", { mode: 0o755 });
    rmSync(join(folder, "started"), { force: true });
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
    ["fails if it cannot compare", { diff: "error: forbidden" }, {}, 1, /could not be compared: error: forbidden/],
    ["compares no overlay with NAMESPACE alone", { diff }, { NAMESPACE: "shop" }, 0, new RegExp(`^${well}$`)],
  ])("%s", (_, answers, env, status, line) => {
    expect(verify(answers, env)).toEqual([status, expect.stringMatching(line)]);
  });

  test.skipIf(!canRender)("tells the Job what differs from the overlay, and what is missing", () => {
    const applied = () => JSON.stringify(render(join(root, ".culvert/verify")));
    verify({ diff });
    expect(applied()).toContain('"CHANGED":"ConfigMap/proxy.settings Namespace/culvert NetworkPolicy/default-deny"');
    expect(applied()).toContain('"MISSING":"NetworkPolicy/default-deny"');
    verify({ diff: changed });
    expect(applied()).toContain('"MISSING":""');
    verify({});
    expect(applied()).toContain('"CHANGED":""');
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
    const sources = readdirSync(join(root, "deploy/checks")).filter((name) => name.endsWith(".ts"));
    const { data } = find(render(join(root, ".culvert/verify")), "ConfigMap", "culvert-verify");
    expect(Object.keys(data ?? {}).sort()).toEqual(sources.sort());
    verify({ spool: "" }, { IMAGE: "node:24" });
    expect(applied()).toMatch(/"image":"node:24".*"imagePullSecrets":\[\]/);
  });
});
