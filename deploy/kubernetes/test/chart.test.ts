import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { root } from "../../test/support/docker.ts";
import { chart, command, front, helm, images, parse, rendering, template, withoutWeb } from "./lib/chart.ts";
import { controllers, find, of, type Part, podOf, temporaryFolder, unprefixed } from "./lib/objects.ts";

const off = { enabled: false };
const clusterIp = { service: { type: "ClusterIP" } };
const trusted = { settings: { TRUSTED_PROXIES: "10.244.0.0/16" } };
const values = (...more: object[]) => [images("1.0.0"), ...more];
const work = temporaryFolder();
const readme = readFileSync(`${chart}/README.md`, "utf8");

test("two releases in one namespace share neither a name nor a selected pod", () => {
  const [shop = [], blog = []] = ["shop", "blog"].map((release) => template(values(), { release }));
  const names = shop.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  expect(blog.filter(({ kind, metadata }) => names.includes(`${kind} ${metadata.name}`))).toEqual([]);
  for (const { spec } of of(blog, "Service"))
    expect(spec.selector).toMatchObject({ "app.kubernetes.io/instance": "blog" });
});

const names = { settings: { SERVER_NAME: "app.example.com,  www.example.com " } };
const digest = `sha256:${"0".repeat(64)}`;
const rendered: { what: string; set: object; wanted: Record<string, RegExp> }[] = [
  {
    what: "values of containers, images and pods",
    set: {
      settings: { ...names.settings, BASE_PATH: "/shop", HEALTH_PATH: "/ready", SPOOL_MAX_MB: "2048" },
      imagePullSecrets: [{ name: "r" }],
      proxy: { podLabels: { team: "l" }, podAnnotations: { team: "a" }, tls: { certManager: { enabled: true } } },
      web: { image: { digest }, resources: { requests: { cpu: "1" } } },
      spool: {
        nodeSelector: { pool: "a" },
        affinity: { nodeAffinity: {} },
        tolerations: [{ key: "x" }],
        priorityClassName: "high",
      },
      cache: {
        enabled: true,
        extraEnv: [{ name: "API" }],
        extraVolumes: [{ name: "v" }],
        extraVolumeMounts: [{ name: "v", mountPath: "/team" }],
      },
      networkPolicy: { ingest: [{ ports: [{ port: 9000 }] }] },
    },
    wanted: {
      "Deployment proxy": /(?=.*"team":"l")(?=.*"team":"a").*"imagePullSecrets":\[{"name":"r"/,
      "Deployment web":
        /(?=.*culvert-web:1\.0\.0@sha256:0{64}".*"cpu":"1").*"livenessProbe":{"httpGet":{"path":"\/shop\/ready"/,
      "StatefulSet spool": /(?=.*"pool":"a")(?=.*"nodeAffinity")(?=.*"key":"x").*"high"/,
      "Deployment cache": /(?=.*"name":"API")(?=.*"volumes":.*"name":"v").*"\/team"/,
      "ConfigMap spool": /"SPOOL_MAX_MB":"2048"/,
      "Certificate proxy": /"dnsNames":\["app.example.com","www.example.com"/,
      "NetworkPolicy proxy": /"port":9000/,
      "NetworkPolicy spool": /"port":9000/,
    },
  },
  {
    what: "a previous release, and no HEALTH_PATH",
    set: { web: { image: { digest }, previousRelease: { image: { tag: "0.9.0" } } } },
    wanted: {
      "Deployment web": /"livenessProbe":{"tcpSocket"/,
      "Deployment web-previous": /"name":"web","image":"[^"@]*culvert-web:0\.9\.0"/,
    },
  },
  {
    what: "an Ingress",
    set: { ingress: { enabled: true, tls: [{ secretName: "x" }] }, ...front },
    wanted: { "Ingress proxy": /"secretName":"x"/, "Service proxy": /"spec":{(?!.*"type":)/ },
  },
  {
    what: "an HTTPRoute",
    set: { httpRoute: { enabled: true, parentRefs: [{ name: "x" }] }, ...front },
    wanted: { "HTTPRoute proxy": /"hostnames":\["app.example.com","www.example.com"/ },
  },
];
test.each(rendered)("the chart renders $what", ({ set, wanted }) => {
  const objects = template(values(names, set));
  for (const [object, text] of Object.entries(wanted)) {
    const [kind = "", name = ""] = object.split(" ");
    expect(JSON.stringify(find(objects, kind, name))).toMatch(text);
  }
});

test("a release replaces the pods that read a changed setting, and no others", () => {
  const checksums = (settings: object) =>
    controllers(template(values({ settings }))).map(
      (controller) => JSON.stringify(controller).match(/checksum\/settings":"(\w+)/)?.[1],
    );
  const [before, after] = [checksums({}), checksums({ SPOOL_RATE: "7" })];
  expect(before.map((checksum, at) => checksum === after[at]).sort()).toEqual([false, true, true]);
});

test("the chart has a Pod without rights as its only hook, and none with test.enabled=false", () => {
  const hooks = rendering("defaults").filter(({ metadata }) => JSON.stringify(metadata).includes("helm.sh/hook"));
  expect(hooks.map(({ kind, metadata }) => [kind, metadata.annotations])).toEqual([
    ["Pod", { "helm.sh/hook": "test", "helm.sh/hook-delete-policy": "before-hook-creation" }],
  ]);
  expect(rendering("defaults").filter(({ kind }) => /Role|Binding/.test(kind))).toEqual([]);
  expect(JSON.stringify(template(values({ test: off })))).not.toMatch(/hook|culvert-test/);
});

test("with web.enabled=false, the chart renders the tunnel alone, and a front passes on its paths only", () => {
  const objects = rendering("tunnel alone");
  const named = (kind: string) => of(objects, kind).map(({ metadata }) => unprefixed(metadata.name));
  const kinds = Object.fromEntries(objects.map(({ kind }) => [kind, named(kind)]));
  expect(kinds).toEqual({
    NetworkPolicy: ["proxy", "spool", "test"],
    PodDisruptionBudget: ["proxy", "spool"],
    ServiceAccount: ["proxy", "spool"],
    ConfigMap: ["proxy", "spool"],
    Service: ["proxy", "server-tunnel", "spool", "spool-headless"],
    Deployment: ["proxy"],
    StatefulSet: ["spool"],
    Ingress: ["proxy"],
    Pod: ["test"],
  });
  expect(JSON.stringify(objects)).not.toMatch(/culvert-web|"web(-previous)?"|WEB_/);
  expect(podOf(objects, "proxy").containers[0].env).toContainEqual({ name: "WEB", value: "off" });
  const paths = ["/monitoring", "/monitoring/csp", "/1abc2de"];
  const found = find(objects, "Ingress", "proxy").spec.rules[0].http.paths;
  expect(found).toMatchObject(paths.map((path) => ({ path, pathType: "Exact" })));
  const httpRoute = { enabled: true, parentRefs: [{ name: "x" }] };
  const more = { proxy: { ...clusterIp, sdkTunnelPaths: ["/1abc2de"] }, httpRoute };
  const [rule] = find(template([withoutWeb, more, trusted]), "HTTPRoute", "proxy").spec.rules;
  expect(rule.matches).toEqual(paths.map((value) => ({ path: { type: "Exact", value } })));
});

test.each([
  ["web.image.tag", "1.0.0"],
  ["web.image.digest", digest],
  ["web.previousRelease.image.tag", "0.9.0"],
  ["cache.enabled", true],
  ["settings.BASE_PATH", "/shop"],
  ["settings.WEBSOCKET_PATH", "/ws"],
])("web.enabled=false rejects %s", (name, value) => {
  const message = `${name}: is of an app, and web.enabled is false: unset it, or set web.enabled=true`;
  const set = name.split(".").reduceRight<unknown>((part, key) => ({ [key]: part }), value);
  expect(() => template([withoutWeb, set as object])).toThrow(message);
});

const rejected = [
  { set: { spol: {} }, message: /additional properties 'spol' not allowed/ },
  {
    set: { settings: { TUNNEL_ALLOWED_ORIGINS: "https://a.b;x" } },
    message: /TUNNEL_ALLOWED_ORIGINS/,
  },
  {
    set: { settings: { SENTRY_DSN: "https://k@o1.ingest.sentry.io/2" } },
    message: /SENTRY_DSN/,
  },
  {
    set: { web: { image: { tag: "" } } },
    message: /web.image.tag: not set: set web.image/,
  },
  {
    set: { web: { replicas: 3 } },
    message: /web.replicas: .*: set web.autoscaling.minReplicas/,
  },
  {
    set: { proxy: { tls: { existingSecret: "" } } },
    message: /proxy.tls.existingSecret: not/,
  },
  {
    set: { gateway: { enabled: true }, proxy: clusterIp },
    message: /gateway.className: not set/,
  },
  {
    set: { ingress: { enabled: true }, ...trusted },
    message: /set proxy.service.type=ClusterIP/,
  },
  {
    set: { ingress: { enabled: true }, proxy: clusterIp },
    message: /TRUSTED_PROXIES: not set/,
  },
  {
    set: { httpRoute: { enabled: true }, proxy: clusterIp, ...trusted },
    message: /httpRoute.parentRefs: not/,
  },
  { set: { spool: { image: { tag: "-x" } } }, message: /spool.image.tag/ },
  {
    set: { web: { image: { tag: "x".repeat(70) } } },
    message: /web.image.*tag/,
  },
  { set: { spool: { persistence: { size: "big" } } }, message: /spool.persistence.size/ },
  {
    set: { proxy: { resources: { requests: { cpu: "2x" } } } },
    message: /proxy.resources.requests.cpu/,
  },
  { set: { web: { extraEnv: [{ name: "A", valu: "b" }] } }, message: /valu/ },
  {
    set: { networkPolicy: { prometheus: [{ ipblock: { cidr: "10.0.0.0/8" } }] } },
    message: /ipblock/,
  },
  {
    set: { networkPolicy: { ingest: [{ ipBlock: { cidr: "10.0.0.0/8" } }] } },
    message: /ipBlock/,
  },
  {
    set: { web: { nodeSelector: { pool: 1 } } },
    message: /web.nodeSelector.pool/,
  },
  {
    set: { settings: { SERVER_NAME: "https://app.example.com" } },
    message: /SERVER_NAME/,
  },
  { set: { settings: { HEALTH_PATH: "ready" } }, message: /HEALTH_PATH/ },
  {
    set: { settings: { TRUSTED_PROXIES: "10.0.0.0/8 10.0.0.0/33" } },
    message: /TRUSTED_PROXIES/,
  },
  {
    set: { gateway: { enabled: true, className: "x" } },
    message: /gateway.enabled: .*: set proxy.service.type=ClusterIP/,
  },
];
test.each(rejected)("the chart rejects a value by its name: $message", ({ set, message }) => {
  expect(() => template(values(set))).toThrow(message);
});

const schema = JSON.parse(readFileSync(`${chart}/values.schema.json`, "utf8"));
test("each value is in values.yaml, which documents it", () => {
  const documented = Object.keys(parseYaml(readFileSync(`${chart}/values.yaml`, "utf8")));
  expect(["global", ...documented].sort()).toEqual(Object.keys(schema.properties).sort());
});

/** Path and type of each value that contains no others. */
const leaves = ({ $ref, allOf, properties, type = "string" }: Part, path: string): [path: string, type: string][] => {
  if ($ref) return leaves(schema.definitions[$ref.split("/").at(-1)], path);
  if (allOf) return leaves(allOf[0], path);
  if (!properties) return [[path, [type].flat()[0]]];
  return Object.keys(properties).flatMap((key) => leaves(properties[key], path ? `${path}.${key}` : key));
};

test("templates read each value, however nested: they have its path, or what it sets is rendered", () => {
  const { global, settings, ...properties } = schema.properties;
  const named = execFileSync("grep", ["-rhoE", "\\.Values(\\.\\w+)+", `${chart}/templates`], {
    encoding: "utf8",
  }).split("\n");
  const others = leaves({ properties }, "").filter(([path]) => !named.includes(`.Values.${path}`));
  const markOf = (path: string) => `${700_000 + others.findIndex(([other]) => other === path)}`;
  const marks = others.map(([path, type]) => {
    const mark = markOf(path);
    const values = { array: [{ name: mark, host: mark }], object: { [mark]: mark }, integer: +mark, boolean: true };
    return `--set-json=${path}=${JSON.stringify(values[type as keyof typeof values] ?? mark)}`;
  });
  const on = { enabled: true };
  const render = (set: string, more = {}) => {
    const options = ["--skip-schema-validation", ...marks, `--set=${set}`];
    return helm(["template", "culvert", chart, ...options], [{ cache: on, monitoring: on, localIngest: on }, more]);
  };
  const scaled = render("web.replicas=null");
  const fronts = { ingress: on, httpRoute: on, gateway: on, ...trusted };
  const fixed = { proxy: { autoscaling: off, service: { type: "NodePort" } }, web: { autoscaling: off } };
  const all = scaled + render("web.image.tag=1", { ...fronts, ...fixed });
  const isRead = ([path, type]: [path: string, type: string]) =>
    type === "boolean" ? render(`web.replicas=null,${path}=false`) !== scaled : all.includes(markOf(path));
  expect(others.filter((leaf) => !isRead(leaf))).toEqual([]);
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
    const parsed = parseYaml(`${parent}${nested ? "service:\n    " : ""}${example}`);
    const front = parsed.ingress || parsed.httpRoute || parsed.gateway ? { proxy: clusterIp } : {};
    expect(() => template(values(fixed, front, parsed)), line).not.toThrow();
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
test.skipIf(!kubectl)("the kustomization of a release changes namespace, images and settings", () => {
  const text = readFileSync(`${root}deploy/release/kustomization.yaml`, "utf8");
  writeFileSync(join(work, "culvert-VERSION.yaml"), readFileSync(render("values/production.yaml").stdout.trim()));
  writeFileSync(join(work, "kustomization.yaml"), text.replaceAll("REGISTRY", "registry.example.com"));
  const objects = kustomize(work);
  expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set(["culvert"]));
  expect(podOf(objects, "web").containers[0].image).toBe("registry.example.com/shop:1.4.0");
  expect(find(objects, "ConfigMap", "proxy").data?.SERVER_NAME).toBe("app.example.com");
  expect(JSON.stringify(objects)).not.toMatch(/\.culvert\.svc/);
});

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
  const operations = JSON.stringify([{ op: "add", path: "/metadata/labels/team", value: "shop" }]);
  const patches = [{ target: { kind: "Deployment", name: "culvert-web" }, patch: operations }];
  writeFileSync(join(folder, "kustomization.yaml"), JSON.stringify({ helmCharts, patches }));
  writeFileSync(join(folder, "values.yaml"), JSON.stringify(Object.assign({}, ...values({ test: off }))));
  // Kustomize 5.5 asks for Helm 3's version by an option that Helm 4 has not.
  const old = `#!/bin/sh\ncase "$1" in version) echo v3.18.0 ;; *) exec ${command} "$@" ;; esac\n`;
  writeFileSync(join(work, "helm3"), old, { mode: 0o755 });
  const objects = kustomize("--enable-helm", `--helm-command=${join(work, "helm3")}`, folder);
  expect(find(objects, "Deployment", "web").metadata.labels).toMatchObject({ team: "shop" });
  expect(objects).toHaveLength(template(values({ test: off })).length);
});
