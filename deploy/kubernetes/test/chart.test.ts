import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parseAllDocuments, parse as parseYaml } from "yaml";
import { command, hasHelm, helm, images, parse, rendering, template } from "./lib/chart.ts";
import { controllers, find, of, type Part, podOf, pods } from "./lib/objects.ts";
import { chart, root } from "./lib/paths.ts";

const off = { enabled: false };
const clusterIp = { service: { type: "ClusterIP" } };
const trusted = { settings: { TRUSTED_PROXIES: "10.244.0.0/16" } };
const values = (...more: object[]) => [images("1.0.0"), ...more];
const work = mkdtempSync(join(tmpdir(), "culvert-chart-"));
afterAll(() => rmSync(work, { recursive: true }));
const readme = readFileSync(`${chart}/README.md`, "utf8");

describe.skipIf(!hasHelm)("the chart", () => {
  test("installs two releases in one namespace, without a name or a selected pod in common", () => {
    const [one = [], two = []] = ["shop", "blog"].map((release) => template(values(), { release }));
    const names = one.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(two.filter(({ kind, metadata }) => names.includes(`${kind} ${metadata.name}`))).toEqual([]);
    for (const { spec } of of(two, "Service"))
      expect(spec.selector).toMatchObject({ "app.kubernetes.io/instance": "blog" });
    expect(find(one, "Deployment", "shop-culvert-web").metadata.labels).toMatchObject({
      "helm.sh/chart": "culvert-0.0.0",
      "app.kubernetes.io/instance": "shop",
    });
  });

  const withPath = { path: "/shop/ready", port: "http" };
  test.each<[settings: object, probe: object]>([
    [{ BASE_PATH: "/shop" }, { tcpSocket: { port: "http" } }],
    [{ BASE_PATH: "/shop", HEALTH_PATH: "/ready" }, { httpGet: expect.objectContaining(withPath) }],
  ])("asks an app's health path once it is declared, below its base path: %o", (settings, probe) => {
    const [web] = podOf(template(values({ settings })), "web").containers;
    for (const { tcpSocket, httpGet } of [web.startupProbe, web.readinessProbe, web.livenessProbe])
      expect({ tcpSocket, httpGet }).toEqual(probe);
  });

  test("takes what a platform team sets, for each pod", () => {
    const placed = { nodeSelector: { pool: "apps" }, tolerations: [{ key: "x" }], affinity: { nodeAffinity: {} } };
    const volume = { name: "team", configMap: { name: "team" } };
    const mount = { name: "team", mountPath: "/team" };
    const pod = {
      ...{ ...placed, podAnnotations: { team: "shop" }, podLabels: { team: "shop" }, priorityClassName: "high" },
      ...{ extraEnv: [{ name: "API", value: "x" }], extraVolumes: [volume], extraVolumeMounts: [mount] },
    };
    const [own, added] = [{ ...pod }, { ...pod, enabled: true, image: { tag: "1" } }];
    const set = { proxy: own, web: own, spool: own, cache: added, localIngest: added };
    const objects = template(values(set, { imagePullSecrets: [{ name: "registry" }] }));
    const found = controllers(objects);
    expect(found).toHaveLength(5);
    for (const { metadata, spec } of found) {
      const { metadata: own, spec: ownSpec } = spec.template;
      expect(own, metadata.name).toMatchObject({ labels: { team: "shop" }, annotations: { team: "shop" } });
      const more = { priorityClassName: "high", imagePullSecrets: [{ name: "registry" }] };
      expect(ownSpec, metadata.name).toMatchObject({ ...placed, ...more });
      expect(ownSpec.volumes, metadata.name).toContainEqual(volume);
      const [{ env, volumeMounts }] = ownSpec.containers;
      expect([env.at(-1), volumeMounts.at(-1)], metadata.name).toEqual([pod.extraEnv[0], pod.extraVolumeMounts[0]]);
    }
  });

  test("takes what differs between clusters", () => {
    const objects = template(
      values({
        settings: { SPOOL_MAX_MB: "2048", SERVER_NAME: "app.example.com,  www.example.com " },
        web: {
          ...{ image: { digest: `sha256:${"0".repeat(64)}` }, resources: { requests: { cpu: "1" } } },
          ...{ autoscaling: { maxReplicas: 30 }, serviceAccount: { annotations: { role: "arn" } } },
        },
        proxy: { service: { annotations: { lb: "external" } }, tls: { certManager: { enabled: true } } },
        spool: { persistence: { size: "4Gi", storageClass: "fast" } },
        networkPolicy: { ingest: [{ to: [{ ipBlock: { cidr: "10.0.5.0/24" } }], ports: [{ port: 9000 }] }] },
      }),
    );
    expect(find(objects, "Certificate", "proxy").spec.dnsNames).toEqual(["app.example.com", "www.example.com"]);
    const texts = `
ConfigMap spool "SPOOL_MAX_MB":"2048"
Deployment web culvert-web:1\\.0\\.0@sha256:0{64}".*"cpu":"1"
HorizontalPodAutoscaler web "maxReplicas":30
ServiceAccount web "annotations":{"role":"arn"}
Service proxy "annotations":{"lb":"external"}
StatefulSet spool "storageClassName":"fast".*"4Gi"
NetworkPolicy proxy 10\\.0\\.5\\.0/24.*"port":9000|"port":9000.*10\\.0\\.5\\.0/24
NetworkPolicy spool 10\\.0\\.5\\.0/24.*"port":9000|"port":9000.*10\\.0\\.5\\.0/24`;
    for (const [kind = "", name = "", text = ""] of texts
      .trim()
      .split("\n")
      .map((line) => line.split(" ")))
      expect(JSON.stringify(find(objects, kind, name))).toMatch(new RegExp(text));
    expect(objects.some(({ metadata }) => metadata.name.endsWith("default-deny"))).toBe(false);
  });

  test("replaces the pods that read a changed setting, and no others", () => {
    const checksums = (settings: object) =>
      controllers(template(values({ settings }))).map(
        (one) => JSON.stringify(one).match(/checksum\/settings":"(\w+)/)?.[1],
      );
    const [before, after] = [checksums({}), checksums({ SPOOL_RATE: "7" })];
    expect(before.map((one, at) => one === after[at]).sort()).toEqual([false, true, true]);
  });

  test("gives web-previous the pods of web, but its own image, release, labels and files", () => {
    const previousRelease = { image: { tag: "0.9.0" } };
    const objects = template(values({ web: { previousRelease, extraEnv: [{ name: "API", value: "x" }] } }));
    const [web, old] = ["web", "web-previous"].map((name) =>
      structuredClone(find(objects, "Deployment", name).spec.template),
    );
    const labels = ["component", "name", "version"].map((name) => `app.kubernetes.io/${name}`);
    const own = [web, old].map(({ metadata }) => labels.map((name) => metadata.labels[name]).join(" "));
    expect(own).toEqual(["web web 1.0.0", "web web-previous 0.9.0"]);
    const release = { name: "SENTRY_RELEASE", value: "0.9.0" };
    expect(old.spec.containers[0].env).toContainEqual(release);
    const [{ image }] = old.spec.containers;
    expect([image, old.spec.initContainers[0].image]).toEqual([image, image]);
    expect(image).toMatch(/culvert-web:0\.9\.0$/);
    old.spec.containers[0].env = old.spec.containers[0].env.filter(({ name }: Part) => name !== release.name);
    old.spec.containers[0].image = web.spec.containers[0].image;
    delete web.spec.topologySpreadConstraints;
    web.spec.initContainers.pop();
    expect(old.spec).toEqual(web.spec);
  });

  test("has a Pod without rights as its only hook, and none with test.enabled=false", () => {
    const hooks = rendering("defaults").filter(({ metadata }) => JSON.stringify(metadata).includes("helm.sh/hook"));
    expect(hooks.map(({ kind, metadata }) => [kind, metadata.annotations])).toEqual([
      ["Pod", { "helm.sh/hook": "test", "helm.sh/hook-delete-policy": "before-hook-creation" }],
    ]);
    expect(rendering("defaults").filter(({ kind }) => /Role|Binding/.test(kind))).toEqual([]);
    expect(JSON.stringify(template(values({ test: off })))).not.toMatch(/hook|culvert-test/);
  });

  test("behind an Ingress or a Gateway needs no certificate, and lets in nothing but the front", () => {
    const ingress = {
      ...{ enabled: true, className: "nginx", annotations: { "cert-manager.io/cluster-issuer": "letsencrypt" } },
      hosts: [{ host: "app.example.com", paths: [{ path: "/", pathType: "ImplementationSpecific" }] }],
      tls: [{ secretName: "app-tls", hosts: ["app.example.com"] }],
    };
    const httpRoute = { enabled: true, parentRefs: [{ name: "public", namespace: "gateways" }] };
    const settings = { ...trusted.settings, SERVER_NAME: "app.example.com www.example.com" };
    const proxy = { ...clusterIp, tls: { existingSecret: "" } };
    const objects = template(values({ ingress, httpRoute, settings, proxy }));
    expect(find(objects, "Service", "proxy").spec.type).toBeUndefined();
    const { tls, rules } = find(objects, "Ingress", "proxy").spec;
    expect([tls, rules[0].http.paths[0].pathType]).toEqual([ingress.tls, "ImplementationSpecific"]);
    expect(find(objects, "HTTPRoute", "proxy").spec.hostnames).toEqual(["app.example.com", "www.example.com"]);
  });

  const rejected = `
an unknown value | {"spol":{}} | additional properties 'spol' not allowed
a value of another type | {"spool":{"enabled":"yes"}} | '/spool/enabled': got string, want boolean
an unknown setting | {"settings":{"SERVERNAME":"x"}} | SERVERNAME
a secret among the settings | {"settings":{"SENTRY_DSN":"https://k@o1.ingest.sentry.io/2"}} | SENTRY_DSN
an image without a tag | {"web":{"image":{"tag":""}}} | web.image.tag: not set: set web.image
replicas with autoscaling | {"web":{"replicas":3}} | web.replicas: .*: set web.autoscaling.minReplicas
proxies without a certificate | {"proxy":{"tls":{"existingSecret":""}}} | proxy.tls.existingSecret: not
a gateway without a class | {"gateway":{"enabled":true},CLUSTER_IP} | gateway.className: not set
an Ingress beside a load balancer | {"ingress":{"enabled":true},TRUSTED} | set proxy.service.type=ClusterIP
an Ingress that is not trusted | {"ingress":{"enabled":true},CLUSTER_IP} | TRUSTED_PROXIES: not set
a route without a Gateway | {"httpRoute":{"enabled":true},CLUSTER_IP,TRUSTED} | httpRoute.parentRefs: not
a gateway beside a load balancer | {"gateway":{"enabled":true,"className":"x"}} | gateway.enabled: .*: set proxy.service.type=ClusterIP`;
  const cases = rejected.trim().split("\n");
  test.each(cases.map((line) => line.split(" | ")))("rejects %s, by its name", (_, more = "", message = "") => {
    const entries = (one: object) => JSON.stringify(one).slice(1, -1);
    const text = more.replace("CLUSTER_IP", entries({ proxy: clusterIp })).replace("TRUSTED", entries(trusted));
    expect(() => template(values(JSON.parse(text)))).toThrow(new RegExp(message));
  });

  test("has each value in values.yaml, which documents it", () => {
    const { properties } = JSON.parse(readFileSync(`${chart}/values.schema.json`, "utf8"));
    const documented = Object.keys(parseYaml(readFileSync(`${chart}/values.yaml`, "utf8")));
    expect(["global", ...documented].sort()).toEqual(Object.keys(properties).sort());
  });

  test("takes each example in values/production.yaml that is commented out", () => {
    const text = readFileSync(`${chart}/values/production.yaml`, "utf8");
    const web = { autoscaling: off };
    const fixed = { ...trusted, web, gateway: { className: "x" }, proxy: { tls: { existingSecret: "tls" } } };
    let [parent, found] = ["", 0];
    for (const line of text.split("\n")) {
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

  test("lists in its notes what the values need", () => {
    const notes = (more: object) => helm(["install", "shop", chart, "--dry-run=client"], values(more));
    expect(notes({})).toMatch(/create secret tls proxy-tls[\s\S]*helm test shop/);
    expect(notes({ test: off })).not.toMatch(/helm test/);
    expect(notes({ proxy: { tls: { certManager: { enabled: true } } } })).not.toMatch(/create secret tls/);
    expect(notes({ cache: { enabled: true }, sentry: { caConfigMap: "ca" } })).toMatch(/shared-cache.*configmap ca/s);
    expect(notes({ proxy: { service: { type: "NodePort" } } })).toMatch(/port 30443/);
  });
});

describe.skipIf(!hasHelm)("without Helm in the cluster's tools:", () => {
  const render = (file: string) => spawnSync("sh", [`${chart}/render.sh`, file], { encoding: "utf8" });

  test("make render writes all objects, without hooks and namespaces, so that kubectl -n chooses one", () => {
    const { stdout } = render("values/production.yaml");
    const objects = parse(readFileSync(stdout.trim(), "utf8"));
    const named = ({ kind, metadata }: Part) => `${kind} ${metadata.name}`;
    const wanted = rendering("production").filter(({ metadata }) => metadata.name !== "culvert-test");
    expect(objects.map(named)).toEqual(wanted.map(named));
    expect(JSON.stringify(objects)).not.toMatch(/helm\.sh\/hook|"namespace":/);
    expect(render("values/no.yaml")).toMatchObject({ status: 1, stderr: /VALUES: there is no 'values\/no\.yaml'/ });
  });

  const kubectl = spawnSync("kubectl", ["kustomize", "--help"]).status === 0;
  test.skipIf(!kubectl)(
    "the kustomization of a release sets namespace, images and settings of the rendered file, and a patch applies",
    () => {
      const { stdout } = render("values/production.yaml");
      const text = readFileSync(`${root}/deploy/release/kustomization.yaml`, "utf8");
      writeFileSync(join(work, "culvert-VERSION.yaml"), readFileSync(stdout.trim()));
      const patch = `  - target: { kind: Deployment, name: culvert-web }
    patch: '[{"op": "add", "path": "/metadata/labels/team", "value": "shop"}]'
`;
      writeFileSync(join(work, "kustomization.yaml"), text.replaceAll("REGISTRY", "registry.example.com") + patch);
      const objects = parse(execFileSync("kubectl", ["kustomize", work], { encoding: "utf8" }));
      for (const { metadata } of objects) expect(metadata.namespace).toBe("culvert");
      expect(find(objects, "Deployment", "web").metadata.labels).toMatchObject({ team: "shop" });
      expect(podOf(objects, "web").containers[0].image).toBe("registry.example.com/shop:1.4.0");
      expect(find(objects, "ConfigMap", "proxy").data?.SERVER_NAME).toBe("app.example.com");
      // Addresses follow the namespace.
      expect(JSON.stringify(objects)).not.toMatch(/\.culvert\.svc/);
    },
  );

  const documents = [...readme.matchAll(/^((?: {4}.*\n| *\n)+)/gm)]
    .flatMap(([, block = ""]) => (block.includes("apiVersion:") ? parseAllDocuments(block.replace(/^ {4}/gm, "")) : []))
    .map((one) => one.toJS());
  const applied: [kind: string, version: string, at: (spec: Part) => object][] = [
    ["Application", "argoproj.io/v1alpha1", ({ source }) => source.helm.valuesObject],
    ["HelmRelease", "helm.toolkit.fluxcd.io/v2", ({ values: own }) => own],
    ["Kustomization", "kustomize.config.k8s.io/v1beta1", () => ({})],
  ];
  test.each(applied)("the README's %s is one, and the chart takes its values", (kind, version, at) => {
    const { apiVersion, spec, helmCharts } = documents.find((one) => one.kind === kind);
    expect(apiVersion).toBe(version);
    expect(() => template(values(at(spec ?? {})))).not.toThrow();
    const fields = "name namespace releaseName repo valuesFile version";
    if (helmCharts) expect(Object.keys(helmCharts[0]).sort().join(" ")).toBe(fields);
  });

  test("helm package has the chart's files, alerts and settings, and nothing of the tests", () => {
    helm(["package", chart, "--destination", work, "--version", "1.2.3", "--app-version", "1.2.3"]);
    const packed = execFileSync("tar", ["-tzf", join(work, "culvert-1.2.3.tgz")], { encoding: "utf8" })
      .trim()
      .split("\n");
    const more = packed.filter((name) => !/^culvert\/templates\/[\w-]+\.(yaml|tpl)$/.test(name));
    expect(more.sort()).toEqual(
      [
        ...[".helmignore", "Chart.yaml", "monitoring/alerts.yaml", "monitoring/dashboard.json", "settings.json"],
        ...["templates/NOTES.txt", "templates/tests/pod.yaml", "values.schema.json", "values.yaml"],
      ].map((name) => `culvert/${name}`),
    );
    const objects = template(values({ monitoring: { enabled: true } }), { from: join(work, "culvert-1.2.3.tgz") });
    expect(find(objects, "PrometheusRule", "alerts").spec.groups[0].rules.length).toBeGreaterThan(20);
    const dashboard = find(objects, "ConfigMap", "dashboard").data?.["culvert.json"] ?? "";
    expect(JSON.parse(dashboard).panels.length).toBeGreaterThan(5);
    expect(pods(objects).at(-1)?.spec.containers[0].args[0]).toMatch(/X-Robots-Tag|robots/);
  });

  test.skipIf(!kubectl)("Kustomize reads the chart by helmCharts, with values and a patch", () => {
    const folder = join(work, "kustomize");
    mkdirSync(join(folder, "charts"), { recursive: true });
    execFileSync("tar", ["-xzf", join(work, "culvert-1.2.3.tgz"), "-C", join(folder, "charts")]);
    const names = { name: "culvert", releaseName: "culvert", namespace: "shop" };
    const chartOf = { ...names, version: "1.2.3", valuesFile: "values.yaml" };
    const patch = JSON.stringify([{ op: "add", path: "/metadata/labels/team", value: "shop" }]);
    const patches = [{ target: { kind: "Deployment", name: "culvert-web" }, patch }];
    writeFileSync(join(folder, "kustomization.yaml"), JSON.stringify({ helmCharts: [chartOf], patches }));
    writeFileSync(join(folder, "values.yaml"), JSON.stringify(Object.assign({}, ...values({ test: off }))));
    // Kustomize 5.5 asks for Helm 3's version by an option that Helm 4 has not.
    const old = `#!/bin/sh\ncase "$1" in version) echo v3.18.0 ;; *) exec ${command} "$@" ;; esac\n`;
    writeFileSync(join(work, "helm3"), old, { mode: 0o755 });
    const run = ["kustomize", "--enable-helm", `--helm-command=${join(work, "helm3")}`, folder];
    const objects = parse(execFileSync("kubectl", run, { encoding: "utf8", stdio: "pipe" }));
    expect(find(objects, "Deployment", "web").metadata.labels).toMatchObject({ team: "shop" });
    expect(objects).toHaveLength(template(values({ test: off })).length);
  });
});
