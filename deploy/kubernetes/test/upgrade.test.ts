import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { makePair } from "../../test/support/certificate.ts";
import { hasHelm, template } from "./lib/chart.ts";
import { find, type Resource } from "./lib/objects.ts";
import { kubernetes, root } from "./lib/paths.ts";
import { canRender, render, rendering } from "./lib/render.ts";
import { schemaProblems } from "./lib/schema.ts";

/** The README's commands, without their comments, and its examples of YAML. */
const readme = readFileSync(join(kubernetes, "README.md"), "utf8");
const commands = [...readme.matchAll(/^ {4}(\S.*?)(?: {2,}#.*)?$/gm)].map(([, command]) => command ?? "");
const example = (start: string) =>
  (new RegExp(`^ {4}${start}\n(?: {4}.*\n)+`, "m").exec(readme)?.[0] ?? "").replace(/^ {4}/gm, "");
const command = (start: string) => commands.find((one) => one.startsWith(start)) ?? "false";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "culvert-readme-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const creates = commands.filter((command) => /^kubectl -n \S+ create /.test(command));
test.skipIf(spawnSync("kubectl", ["version", "--client"]).status !== 0).each(creates)("README: %s", (command) => {
  makePair(join(folder, "site"), ["app.example.com"]);
  const copies = { "fullchain.pem": "site.crt", "privkey.pem": "site.key", "average.tar": "site.crt" };
  for (const [name, from] of Object.entries(copies)) cpSync(join(folder, from), join(folder, name));
  const output = execFileSync("sh", ["-ec", `${command} --dry-run=client -o name`], { cwd: folder, encoding: "utf8" });
  // What the manifests reference: rules.test.ts compares the names.
  expect(output).toMatch(/^(secret\/(sentry|proxy-tls)|configmap\/loadtest-archive)$/m);
});

test("README: each folder of a command exists, or is the copy of the example", () => {
  const folders = commands.flatMap((command) => /-k (\S+)/.exec(command)?.[1] ?? []);
  expect(folders.length).toBeGreaterThan(2);
  for (const one of folders) expect(existsSync(join(root, one.replace("/shop", "/production"))), one).toBe(true);
});

test.skipIf(!hasHelm)("README: a released chart runs the team's app, and its own images by digest", () => {
  const pinned = (name: string) => `${name}:2.0.0@sha256:${Buffer.from(name).toString("hex").padEnd(64, "0")}`;
  const built = ["proxy", "spool", "web", "ingest"].map((name) => `${pinned(name)}\n`);
  writeFileSync(join(folder, "digests"), built.join(""));
  const registry = "registry.example.com:5000/x";
  const source = { SOURCE_DATE_EPOCH: "1700000000", SOURCE_URL: "https://git.example/culvert" };
  const env = { ...process.env, OUT: folder, VERSION: "2.0.0", REGISTRY: registry, ...source };
  execFileSync("sh", ["deploy/release/chart.sh"], { cwd: root, env });
  const images = (...values: object[]) => {
    const text = JSON.stringify(template(values, { from: join(folder, "culvert-2.0.0.tgz"), tests: true }));
    return [...new Set(Array.from(text.matchAll(/"image":"([^"]+)"/g), ([, image]) => image))].sort();
  };
  const values = parse(example("web:"));
  const app = ["1.4.0", "1.5.0"].map((tag) => `registry.example.com/shop:${tag}`);
  const kit = ["proxy", "spool"].map((name) => `${registry}/culvert-${pinned(name)}`);
  expect(images(values)).toEqual([...app, ...kit].sort());
  expect(images(values, { proxy: { image: { tag: "of-ours" } } })).toContain(`${registry}/culvert-proxy:of-ours`);
});

test.skipIf(!canRender)("README: without a clone, example and checks render from a git repository, by tag", () => {
  const repository = join(folder, "culvert");
  copy(repository, ["base", "components", "release", "verify"]);
  const user = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
  for (const line of ["init --quiet", "add .", "commit --quiet --message=1.0.0", "tag v1.0.0"])
    execFileSync("git", ["-C", repository, ...user, ...line.split(" ")]);
  cpSync(join(kubernetes, "overlays/production/kustomization.yaml"), join(folder, "example.yaml"));
  const here = (text: string) => text.replace("https://git.example.com", `file://${folder}`);
  execFileSync("sh", ["-ec", here(command("sed "))], { cwd: folder });
  expect(render(folder)).toEqual(rendering("production"));
  writeFileSync(join(folder, "kustomization.yaml"), here(example("namespace: culvert")));
  const checks = JSON.stringify(render(folder));
  expect(checks).toContain('{"EXPECT":"networkpolicies/web horizontalpodautoscalers/web"}');
  expect(checks).toMatch(/"name":"culvert-verify-options-.*"image":"registry.example.com\/culvert-spool:1.0.0"/);
});

/** Copies settings, checks, and these folders of deploy/kubernetes, to a checkout. */
function copy(checkout: string, folders: string[]): void {
  for (const one of ["settings", "checks"])
    cpSync(join(root, "deploy", one), join(checkout, "deploy", one), { recursive: true });
  for (const one of folders)
    cpSync(join(kubernetes, one), join(checkout, "deploy/kubernetes", one), { recursive: true });
}

/** A platform team's copy of production, with all components and all patches of the example. */
describe.skipIf(!canRender)("an overlay of your own", () => {
  const file = (path: string) => join(folder, "checkout/deploy/kubernetes", path);
  const edit = (path: string, change: (text: string) => string) => {
    const [before, after] = [readFileSync(file(path), "utf8"), change(readFileSync(file(path), "utf8"))];
    expect(after).not.toBe(before);
    writeFileSync(file(path), after);
  };
  const shop = () => render(file("overlays/shop"));
  const expectTexts = (objects: Resource[], texts: [kind: string, name: string, text: RegExp][]) => {
    for (const [kind, name, text] of texts) expect(JSON.stringify(find(objects, kind, name))).toMatch(text);
  };

  beforeAll(() => {
    copy(join(folder, "checkout"), ["base", "components", "release", "overlays"]);
    execFileSync("sh", ["-ec", command("cp -r")], { cwd: join(folder, "checkout") });
    edit("overlays/shop/kustomization.yaml", (own) =>
      own
        .replace("namespace: culvert", "namespace: shop")
        .replace("../../components/tls #", "../../components/cert-manager #")
        .replace("# - ../../components/monitoring", "- ../../components/monitoring\n  - ../../components/gateway-api")
        .replace("SERVER_NAME=app.example.com", "SERVER_NAME=app.example.com www.example.com")
        .concat(readFileSync(file("overlays/shop/patches.yaml"), "utf8")),
    );
  });

  test("takes every patch of the example", async () => {
    const objects = shop();
    expectTexts(objects, [
      ["HorizontalPodAutoscaler", "web", /"maxReplicas":30.*"minReplicas":5/],
      ["Deployment", "web", /"cpu":"1".*"imagePullSecrets":\[\{"name":"registry"\}\].*"pool":"apps"/],
      ["Deployment", "web", /("path":"\/shop\/ready".*){3}/],
      ["NetworkPolicy", "proxy", /10\.0\.5\.0\/24.*10\.96\.0\.10\/32/],
      ["NetworkPolicy", "proxy", /observability/],
      ["NetworkPolicy", "spool", /10\.0\.5\.0\/24.*10\.96\.0\.10\/32/],
      ["NetworkPolicy", "web", /"kubernetes.io\/metadata.name":"api".*10\.96\.0\.10\/32/],
      ["Service", "proxy", /aws-load-balancer-type/],
      ["StatefulSet", "spool", /"storage":"4Gi".*"storageClassName":"fast"/],
      ["Certificate", "proxy", /"dnsNames":\["app.example.com","www.example.com"\]/],
      ["TLSRoute", "proxy", /"hostnames":\["app.example.com","www.example.com"\]/],
      ["Gateway", "culvert", /"gatewayClassName":"cilium"/],
      ["PodMonitor", "", /"release":"kube-prometheus-stack"/],
      ["PrometheusRule", "", /"release":"kube-prometheus-stack"/],
    ]);
    for (const object of objects)
      expect(await schemaProblems(object), `${object.kind} ${object.metadata.name}`).toEqual([]);
  });

  test("survives an upgrade: the next version's files, and what was changed in the copy", () => {
    const before = readFileSync(file("overlays/shop/kustomization.yaml"), "utf8");
    edit("components/autoscaling/web.yaml", (next) =>
      next.replace("maxReplicas: 12", "maxReplicas: 16").replace("averageUtilization: 80", "averageUtilization: 70"),
    );
    edit("components/network-policy/proxy.yaml", (next) =>
      next.replace("  egress:\n", "  egress:\n    - ports: [{ protocol: TCP, port: 4317 }]\n"),
    );
    edit("base/web/deployment.yaml", (next) => next.replace("memory: 512Mi", "memory: 640Mi"));
    edit("overlays/production/kustomization.yaml", (next) => next.replaceAll("1.0.0", "2.0.0"));
    expectTexts(shop(), [
      ["HorizontalPodAutoscaler", "web", /"maxReplicas":30.*"averageUtilization":70/],
      ["NetworkPolicy", "proxy", /4317.*10\.0\.5\.0\/24/],
      ["Deployment", "web", /"memory":"640Mi".*"cpu":"1"/],
    ]);
    expect(readFileSync(file("overlays/shop/kustomization.yaml"), "utf8")).toBe(before);
  });
});
