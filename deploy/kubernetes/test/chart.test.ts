import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { root } from "../../test/support/docker.ts";
import { chart, command, helm, images, parse, rendering, template } from "./lib/chart.ts";
import { controllers, find, of, type Part, podOf, temporaryFolder } from "./lib/objects.ts";

const off = { enabled: false };
const clusterIp = { service: { type: "ClusterIP" } };
const trusted = { settings: { TRUSTED_PROXIES: "10.244.0.0/16" } };
const entries = (one: object) => JSON.stringify(one).slice(1, -1);
const values = (...more: object[]) => [images("1.0.0"), ...more];
const work = temporaryFolder();
const readme = readFileSync(`${chart}/README.md`, "utf8");

test("two releases in one namespace share neither a name nor a selected pod", () => {
  const [one = [], two = []] = ["shop", "blog"].map((release) => template(values(), { release }));
  const names = one.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  expect(two.filter(({ kind, metadata }) => names.includes(`${kind} ${metadata.name}`))).toEqual([]);
  for (const { spec } of of(two, "Service"))
    expect(spec.selector).toMatchObject({ "app.kubernetes.io/instance": "blog" });
});

// What is set; then an object and its text, for each object.
const texts = `
{"settings":{"BASE_PATH":"/shop"}} | Deployment web "livenessProbe":{"tcpSocket"
{"settings":{"BASE_PATH":"/shop","HEALTH_PATH":"/ready"}} | Deployment web "livenessProbe":{"httpGet":{"path":"/shop/ready"
{"spool":{"nodeSelector":{"pool":"a"},"affinity":{"nodeAffinity":{}},"tolerations":[{"key":"x"}],"priorityClassName":"high"}} | StatefulSet spool (?=.*"pool":"a")(?=.*"nodeAffinity")(?=.*"key":"x").*"high"
{"cache":{"enabled":true,"extraEnv":[{"name":"API"}],"extraVolumes":[{"name":"v"}],"extraVolumeMounts":[{"name":"v","mountPath":"/team"}]}} | Deployment cache (?=.*"name":"API")(?=.*"volumes":.*"name":"v").*"/team"
{"proxy":{"podLabels":{"team":"l"},"podAnnotations":{"team":"a"}},"imagePullSecrets":[{"name":"r"}]} | Deployment proxy (?=.*"team":"l")(?=.*"team":"a").*"imagePullSecrets":\\[{"name":"r"
{"settings":{"SPOOL_MAX_MB":"2048"}} | ConfigMap spool "SPOOL_MAX_MB":"2048"
{"web":{"image":{"digest":"DIGEST"},"resources":{"requests":{"cpu":"1"}}}} | Deployment web culvert-web:1\\.0\\.0@sha256:0{64}".*"cpu":"1"
{"web":{"image":{"digest":"DIGEST"},"previousRelease":{"image":{"tag":"0.9.0"}}}} | Deployment web-previous "image":"[^"@]*culvert-web:0\\.9\\.0"(?=.*"name":"web")
{"web":{"autoscaling":{"maxReplicas":30}}} | HorizontalPodAutoscaler web "maxReplicas":30
{"proxy":{"tls":{"certManager":{"enabled":true}}}} | Certificate proxy "dnsNames":\\["app.example.com","www.example.com"
{"spool":{"persistence":{"size":"4Gi","storageClass":"fast"}}} | StatefulSet spool "storageClassName":"fast".*"4Gi"
{"networkPolicy":{"ingest":[{"ports":[{"port":9000}]}]}} | NetworkPolicy proxy "port":9000 | NetworkPolicy spool "port":9000
{"ingress":{"enabled":true,"tls":[{"secretName":"x"}]},FRONT} | Ingress proxy "secretName":"x" | Service proxy "spec":{(?!.*"type":)
{"httpRoute":{"enabled":true,"parentRefs":[{"name":"x"}]},FRONT} | HTTPRoute proxy "hostnames":\\["app.example.com","www.example.com"`;
test.each(texts.trim().split("\n"))("the chart renders %s", (line) => {
  const [set = "", ...wanted] = line.replace("DIGEST", `sha256:${"0".repeat(64)}`).split(" | ");
  const names = { settings: { SERVER_NAME: "app.example.com,  www.example.com " } };
  const front = { proxy: { ...clusterIp, tls: { existingSecret: "" } }, ...trusted };
  const objects = template(values(names, JSON.parse(set.replace("FRONT", entries(front)))));
  for (const [kind = "", name = "", text = ""] of wanted.map((one) => one.split(/ (.*?) (.*)/)))
    expect(JSON.stringify(find(objects, kind, name))).toMatch(new RegExp(text));
});

test("a release replaces the pods that read a changed setting, and no others", () => {
  const checksums = (settings: object) =>
    controllers(template(values({ settings }))).map(
      (one) => JSON.stringify(one).match(/checksum\/settings":"(\w+)/)?.[1],
    );
  const [before, after] = [checksums({}), checksums({ SPOOL_RATE: "7" })];
  expect(before.map((one, at) => one === after[at]).sort()).toEqual([false, true, true]);
});

test("the chart has a Pod without rights as its only hook, and none with test.enabled=false", () => {
  const hooks = rendering("defaults").filter(({ metadata }) => JSON.stringify(metadata).includes("helm.sh/hook"));
  expect(hooks.map(({ kind, metadata }) => [kind, metadata.annotations])).toEqual([
    ["Pod", { "helm.sh/hook": "test", "helm.sh/hook-delete-policy": "before-hook-creation" }],
  ]);
  expect(rendering("defaults").filter(({ kind }) => /Role|Binding/.test(kind))).toEqual([]);
  expect(JSON.stringify(template(values({ test: off })))).not.toMatch(/hook|culvert-test/);
});

const rejected = `
an unknown value | {"spol":{}} | additional properties 'spol' not allowed
an origin that ends a directive | {"settings":{"TUNNEL_ALLOWED_ORIGINS":"https://a.b;x"}} | TUNNEL_ALLOWED_ORIGINS
a secret among the settings | {"settings":{"SENTRY_DSN":"https://k@o1.ingest.sentry.io/2"}} | SENTRY_DSN
an image without a tag | {"web":{"image":{"tag":""}}} | web.image.tag: not set: set web.image
replicas with autoscaling | {"web":{"replicas":3}} | web.replicas: .*: set web.autoscaling.minReplicas
proxies without a certificate | {"proxy":{"tls":{"existingSecret":""}}} | proxy.tls.existingSecret: not
a gateway without a class | {"gateway":{"enabled":true},CLUSTER_IP} | gateway.className: not set
an Ingress beside a load balancer | {"ingress":{"enabled":true},TRUSTED} | set proxy.service.type=ClusterIP
an Ingress that is not trusted | {"ingress":{"enabled":true},CLUSTER_IP} | TRUSTED_PROXIES: not set
a route without a Gateway | {"httpRoute":{"enabled":true},CLUSTER_IP,TRUSTED} | httpRoute.parentRefs: not
a tag that is none | {"spool":{"image":{"tag":"-x"}}} | spool.image.tag
a release's tag that is no label | {"web":{"image":{"tag":"LONG"}}} | web.image.*tag
a previous tag that is no label | {"web":{"previousRelease":{"image":{"tag":"LONG"}}}} | previousRelease.image.tag
a size that is none | {"spool":{"persistence":{"size":"big"}}} | spool.persistence.size
a CPU that is none | {"proxy":{"resources":{"requests":{"cpu":"2x"}}}} | proxy.resources.requests.cpu
resources with a wrong name | {"cache":{"resources":{"limts":{"cpu":"1"}}}} | limts
a variable with a wrong field | {"web":{"extraEnv":[{"name":"A","valu":"b"}]}} | valu
a peer with a wrong field | {"networkPolicy":{"prometheus":[{"ipblock":{"cidr":"10.0.0.0/8"}}]}} | ipblock
a rule with a peer's field | {"networkPolicy":{"ingest":[{"ipBlock":{"cidr":"10.0.0.0/8"}}]}} | ipBlock
a node's label that is no string | {"web":{"nodeSelector":{"pool":1}}} | web.nodeSelector.pool
a name with a scheme | {"settings":{"SERVER_NAME":"https://app.example.com"}} | SERVER_NAME
a health path without a slash | {"settings":{"HEALTH_PATH":"ready"}} | HEALTH_PATH
a network that is too long | {"settings":{"TRUSTED_PROXIES":"10.0.0.0/8 10.0.0.0/33"}} | TRUSTED_PROXIES
a gateway beside a load balancer | {"gateway":{"enabled":true,"className":"x"}} | gateway.enabled: .*: set proxy.service.type=ClusterIP`;
const cases = rejected.trim().split("\n");
test.each(cases.map((line) => line.split(" | ")))("the chart rejects %s, by its name", (_, more = "", message = "") => {
  const text = more
    .replace("LONG", "x".repeat(70))
    .replace("CLUSTER_IP", entries({ proxy: clusterIp }))
    .replace(/TRUSTED(?!_)/, entries(trusted));
  expect(() => template(values(JSON.parse(text)))).toThrow(new RegExp(message));
});

test("each value is in values.yaml, which documents it", () => {
  const { properties } = JSON.parse(readFileSync(`${chart}/values.schema.json`, "utf8"));
  const documented = Object.keys(parseYaml(readFileSync(`${chart}/values.yaml`, "utf8")));
  expect(["global", ...documented].sort()).toEqual(Object.keys(properties).sort());
});

test("the chart takes each example in values/production.yaml that is commented out", () => {
  const web = { autoscaling: off };
  const fixed = { ...trusted, web, gateway: { className: "x" }, proxy: { tls: { existingSecret: "tls" } } };
  let [parent, found] = ["", 0];
  for (const line of readFileSync(`${chart}/values/production.yaml`, "utf8").split("\n")) {
    if (/^\w+:$/.test(line)) parent = `${line}\n  `;
    if (/^$|^#/.test(line)) parent = "";
    const [, nested, example] = /^ *#( {3}|) ?(\w+: [{["\w/].*)$/.exec(line) ?? [];
    if (!example) continue;
    found += 1;
    const own = parseYaml(`${parent}${nested ? "service:\n    " : ""}${example}`);
    const front = own.ingress || own.httpRoute || own.gateway ? { proxy: clusterIp } : {};
    expect(() => template(values(fixed, front, own)), line).not.toThrow();
  }
  expect(found).toBeGreaterThan(15);
});

const render = (file: string) => spawnSync("sh", [`${chart}/render.sh`, file], { encoding: "utf8" });

test("make render writes all objects, without hooks and namespaces", () => {
  const { stdout } = render("values/production.yaml");
  const objects = parse(readFileSync(stdout.trim(), "utf8"));
  const named = ({ kind, metadata }: Part) => `${kind} ${metadata.name}`;
  const wanted = rendering("production").filter(({ metadata }) => metadata.name !== "culvert-test");
  expect(objects.map(named)).toEqual(wanted.map(named));
  expect(JSON.stringify(objects)).not.toMatch(/helm\.sh\/hook|"namespace":/);
  expect(render("values/no.yaml")).toMatchObject({ status: 1, stderr: /VALUES: there is no 'values\/no\.yaml'/ });
});

const kubectl = spawnSync("kubectl", ["kustomize", "--help"]).status === 0;
const kustomize = (...args: string[]) =>
  parse(execFileSync("kubectl", ["kustomize", ...args], { encoding: "utf8", stdio: "pipe" }));
const operations = JSON.stringify([{ op: "add", path: "/metadata/labels/team", value: "shop" }]);
const patch = { target: { kind: "Deployment", name: "culvert-web" }, patch: operations };
test.skipIf(!kubectl)(
  "the kustomization of a release changes namespace, images and settings, and takes a patch",
  () => {
    const text = readFileSync(`${root}deploy/release/kustomization.yaml`, "utf8");
    writeFileSync(join(work, "culvert-VERSION.yaml"), readFileSync(render("values/production.yaml").stdout.trim()));
    const more = `  - ${JSON.stringify(patch)}\n`;
    writeFileSync(join(work, "kustomization.yaml"), text.replaceAll("REGISTRY", "registry.example.com") + more);
    const objects = kustomize(work);
    expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set(["culvert"]));
    expect(find(objects, "Deployment", "web").metadata.labels).toMatchObject({ team: "shop" });
    expect(podOf(objects, "web").containers[0].image).toBe("registry.example.com/shop:1.4.0");
    expect(find(objects, "ConfigMap", "proxy").data?.SERVER_NAME).toBe("app.example.com");
    expect(JSON.stringify(objects)).not.toMatch(/\.culvert\.svc/);
  },
);

test.each(["Application", "HelmRelease", "Kustomization"])("the chart takes the values of the README's %s", (kind) => {
  const text = new RegExp(`^ {4}apiVersion: .*\n {4}kind: ${kind}\n(?: {4}(?!---).*\n)+`, "m").exec(readme)?.[0] ?? "";
  const { spec, helmCharts } = parseYaml(text.replace(/^ {4}/gm, ""));
  const { valuesFile, repo, version, ...names } = helmCharts?.[0] ?? {};
  expect(names).toEqual(helmCharts ? { name: "culvert", releaseName: "culvert", namespace: "culvert" } : {});
  template(values(spec?.source?.helm.valuesObject ?? spec?.values ?? {}));
});

test("helm package has alerts and settings, and nothing of the tests", () => {
  helm(["package", chart, "--destination", work, "--version", "1.2.3", "--app-version", "1.2.3"]);
  const packed = execFileSync("tar", ["-tzf", join(work, "culvert-1.2.3.tgz")], { encoding: "utf8" });
  expect(packed).not.toMatch(/\/(test|values)\/|\.(sh|md|ts)$/m);
  const objects = template(values({ monitoring: { enabled: true } }), { from: join(work, "culvert-1.2.3.tgz") });
  expect(find(objects, "PrometheusRule", "alerts").spec.groups[0].rules.length).toBeGreaterThan(20);
  expect(JSON.parse(find(objects, "ConfigMap", "dashboard").data?.["culvert.json"] ?? "").panels).not.toEqual([]);
});

test.skipIf(!kubectl)("Kustomize reads the chart by helmCharts, with values and a patch", () => {
  const folder = join(work, "kustomize");
  mkdirSync(join(folder, "charts"), { recursive: true });
  execFileSync("tar", ["-xzf", join(work, "culvert-1.2.3.tgz"), "-C", join(folder, "charts")]);
  const names = { name: "culvert", releaseName: "culvert", namespace: "shop" };
  const helmCharts = [{ ...names, version: "1.2.3", valuesFile: "values.yaml" }];
  writeFileSync(join(folder, "kustomization.yaml"), JSON.stringify({ helmCharts, patches: [patch] }));
  writeFileSync(join(folder, "values.yaml"), JSON.stringify(Object.assign({}, ...values({ test: off }))));
  // Kustomize 5.5 asks for Helm 3's version by an option that Helm 4 has not.
  const old = `#!/bin/sh\ncase "$1" in version) echo v3.18.0 ;; *) exec ${command} "$@" ;; esac\n`;
  writeFileSync(join(work, "helm3"), old, { mode: 0o755 });
  const objects = kustomize("--enable-helm", `--helm-command=${join(work, "helm3")}`, folder);
  expect(find(objects, "Deployment", "web").metadata.labels).toMatchObject({ team: "shop" });
  expect(objects).toHaveLength(template(values({ test: off })).length);
});
