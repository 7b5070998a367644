import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { makePair } from "../../test/support/certificate.ts";
import { hasHelm, merge, template } from "./lib/chart.ts";
import type { Resource } from "./lib/objects.ts";
import { kubernetes, root } from "./lib/paths.ts";
import { canRender, render, rendering } from "./lib/render.ts";
import { schemaProblems } from "./lib/schema.ts";

/** The README's commands, without their comments. */
const readme = readFileSync(join(kubernetes, "README.md"), "utf8");
const commands = [...readme.matchAll(/^ {4}(\S.*?)(?: {2,}#.*)?$/gm)].map(([, command]) => command ?? "");

const creates = commands.filter((command) => /^kubectl -n \S+ create /.test(command));
test.skipIf(spawnSync("kubectl", ["version", "--client"]).status !== 0).each(creates)("README: %s", (command) => {
  const folder = mkdtempSync(join(tmpdir(), "culvert-readme-"));
  makePair(join(folder, "site"), ["app.example.com"]);
  for (const [name, from] of [
    ["fullchain.pem", "site.crt"],
    ["privkey.pem", "site.key"],
    ["average.tar", "site.crt"],
  ] as const)
    cpSync(join(folder, from), join(folder, name));
  const output = execFileSync("sh", ["-ec", `${command} --dry-run=client -o name`], { cwd: folder, encoding: "utf8" });
  rmSync(folder, { recursive: true });
  // What the manifests reference: references.ts compares the names.
  expect(output).toMatch(/^(secret\/(sentry|proxy-tls)|configmap\/loadtest-archive)$/m);
});

test("README: each folder of a command exists, or is the copy of the example", () => {
  const folders = commands.flatMap((command) => /-k (\S+)/.exec(command)?.[1] ?? []);
  expect(folders.length).toBeGreaterThan(2);
  for (const folder of folders)
    expect(existsSync(join(root, folder.replace("/shop", "/production"))), folder).toBe(true);
});

test.skipIf(!hasHelm)(
  "README: with the chart's example, a released chart runs the team's app, and its own images by digest",
  () => {
    const [example = ""] = /^ {4}web:\n(?: {4}.*\n)+/m.exec(readme) ?? [];
    const OUT = mkdtempSync(join(tmpdir(), "culvert-chart-"));
    const pinned = (name: string) => `${name}:2.0.0@sha256:${Buffer.from(name).toString("hex").padEnd(64, "0")}`;
    writeFileSync(
      join(OUT, "digests"),
      ["proxy", "spool", "web", "ingest"].map((name) => `${pinned(name)}\n`).join(""),
    );
    const release = {
      ...{ OUT, VERSION: "2.0.0", REGISTRY: "registry.example.com:5000/x", SOURCE_DATE_EPOCH: "1700000000" },
      SOURCE_URL: "https://git.example/culvert",
    };
    execFileSync("sh", ["deploy/release/chart.sh"], { cwd: root, env: { ...process.env, ...release } });
    const images = (values: object) => {
      const text = JSON.stringify(template(values, { from: join(OUT, "culvert-2.0.0.tgz"), tests: true }));
      return [...new Set(Array.from(text.matchAll(/"image":"([^"]+)"/g), ([, image]) => image))].sort();
    };
    const values = parse(example.replace(/^ {4}/gm, ""));
    const kit = ["proxy", "spool"].map((name) => `${release.REGISTRY}/culvert-${pinned(name)}`);
    expect(images(values)).toEqual(
      [...["1.4.0", "1.5.0"].map((tag) => `registry.example.com/shop:${tag}`), ...kit].sort(),
    );
    expect(images(merge(values, { proxy: { image: { tag: "of-ours" } } }))).toContain(
      `${release.REGISTRY}/culvert-proxy:of-ours`,
    );
    rmSync(OUT, { recursive: true });
  },
);

test.skipIf(!canRender)("README: without a clone, example and checks render from a git repository, by tag", () => {
  const folder = mkdtempSync(join(tmpdir(), "culvert-remote-"));
  const git = (...args: string[]) =>
    execFileSync("git", [
      "-C",
      join(folder, "culvert"),
      "-c",
      "user.name=x",
      "-c",
      "user.email=x@example.com",
      ...args,
    ]);
  cpSync(join(root, "deploy/settings"), join(folder, "culvert/deploy/settings"), { recursive: true });
  for (const part of ["base", "components", "release", "verify"])
    cpSync(join(kubernetes, part), join(folder, "culvert/deploy/kubernetes", part), { recursive: true });
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "--message=1.0.0");
  git("tag", "v1.0.0");
  cpSync(join(kubernetes, "overlays/production/kustomization.yaml"), join(folder, "example.yaml"));
  const command = commands.find((one) => one.startsWith("sed ")) ?? "false";
  const here = (text: string) => text.replace("https://git.example.com", `file://${folder}`);
  execFileSync("sh", ["-ec", here(command)], { cwd: folder });
  expect(render(folder)).toEqual(rendering("production"));
  const [checks = ""] = /^ {4}namespace: culvert\n(?: {4}.*\n)+/m.exec(readme) ?? [];
  writeFileSync(join(folder, "kustomization.yaml"), here(checks.replace(/^ {4}/gm, "")));
  const [job] = render(folder).filter(({ kind }) => kind === "Job");
  expect(JSON.stringify(render(folder))).toContain('{"EXPECT":"networkpolicies/web horizontalpodautoscalers/web"}');
  expect(JSON.stringify(job)).toMatch(
    /"name":"culvert-verify-options-.*"image":"registry.example.com\/culvert-spool:1.0.0"/,
  );
  rmSync(folder, { recursive: true });
});

/** A platform team's copy of production, with all components and all patches of the example. */
describe.skipIf(!canRender)("an overlay of your own", () => {
  let checkout: string;
  const file = (path: string) => join(checkout, "deploy/kubernetes", path);
  const edit = (path: string, change: (text: string) => string) => {
    const [before, after] = [readFileSync(file(path), "utf8"), change(readFileSync(file(path), "utf8"))];
    if (before === after) throw new Error(`${path}: nothing to change`);
    writeFileSync(file(path), after);
  };
  const shop = () => render(file("overlays/shop"));
  const text = (objects: Resource[], kind: string, name: string) =>
    JSON.stringify(objects.find((one) => one.kind === kind && one.metadata.name.startsWith(name)));

  beforeAll(() => {
    checkout = mkdtempSync(join(tmpdir(), "culvert-upgrade-"));
    cpSync(join(root, "deploy/settings"), join(checkout, "deploy/settings"), { recursive: true });
    for (const folder of ["base", "components", "release", "overlays"])
      cpSync(join(kubernetes, folder), file(folder), { recursive: true });
    const copy = commands.find((command) => command.startsWith("cp -r")) ?? "false";
    execFileSync("sh", ["-ec", copy], { cwd: checkout });
    edit("overlays/shop/kustomization.yaml", (own) =>
      own
        .replace("namespace: culvert", "namespace: shop")
        .replace("../../components/tls #", "../../components/cert-manager #")
        .replace("# - ../../components/monitoring", "- ../../components/monitoring\n  - ../../components/gateway-api")
        .replace("SERVER_NAME=app.example.com", "SERVER_NAME=app.example.com www.example.com")
        .concat(readFileSync(file("overlays/shop/patches.yaml"), "utf8")),
    );
  });
  afterAll(() => rmSync(checkout, { recursive: true }));

  test("takes every patch of the example", async () => {
    const objects = shop();
    expect(text(objects, "HorizontalPodAutoscaler", "web")).toMatch(/"maxReplicas":30.*"minReplicas":5/);
    expect(text(objects, "Deployment", "web")).toMatch(
      /"cpu":"1".*"imagePullSecrets":\[\{"name":"registry"\}\].*"pool":"apps"/,
    );
    expect(text(objects, "Deployment", "web").match(/"path":"\/shop\/ready"/g)).toHaveLength(3);
    for (const name of ["proxy", "spool"])
      expect(text(objects, "NetworkPolicy", name)).toMatch(/10\.0\.5\.0\/24.*10\.96\.0\.10\/32/);
    expect(text(objects, "NetworkPolicy", "web")).toMatch(/"kubernetes.io\/metadata.name":"api".*10\.96\.0\.10\/32/);
    expect(text(objects, "NetworkPolicy", "proxy")).toContain("observability");
    expect(text(objects, "Service", "proxy")).toContain("aws-load-balancer-type");
    expect(text(objects, "StatefulSet", "spool")).toMatch(/"storage":"4Gi".*"storageClassName":"fast"/);
    expect(text(objects, "Certificate", "proxy")).toContain('"dnsNames":["app.example.com","www.example.com"]');
    expect(text(objects, "TLSRoute", "proxy")).toContain('"hostnames":["app.example.com","www.example.com"]');
    expect(text(objects, "Gateway", "culvert")).toContain('"gatewayClassName":"cilium"');
    for (const kind of ["PodMonitor", "PrometheusRule"])
      expect(text(objects, kind, "")).toContain('"release":"kube-prometheus-stack"');
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
    const objects = shop();
    expect(readFileSync(file("overlays/shop/kustomization.yaml"), "utf8")).toBe(before);
    expect(text(objects, "HorizontalPodAutoscaler", "web")).toMatch(/"maxReplicas":30/);
    expect(text(objects, "HorizontalPodAutoscaler", "web")).toContain('"averageUtilization":70');
    expect(text(objects, "NetworkPolicy", "proxy")).toMatch(/4317.*10\.0\.5\.0\/24/);
    expect(text(objects, "Deployment", "web")).toMatch(/"memory":"640Mi".*"cpu":"1"/);
  });
});
