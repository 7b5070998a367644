import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { chart, hasHelm, helm, images, merge, template } from "./lib/chart.ts";
import { of, type Resource, workloads } from "./lib/objects.ts";
import { canRender, rendering, renderWith } from "./lib/render.ts";
import { comparable, prefix } from "./lib/same-objects.ts";
import { schemaProblems } from "./lib/schema.ts";

const name = { fullnameOverride: prefix };
const off = { enabled: false };
const unscaled = { replicas: null, autoscaling: off, podDisruptionBudget: off };

/** The values that correspond to the base alone. */
const base = {
  ...name,
  settings: { HTTPS_PORT: "" },
  spool: off,
  networkPolicy: off,
  proxy: { ...unscaled, service: { type: "ClusterIP" }, tls: { existingSecret: "" } },
  web: { ...unscaled, previousRelease: off },
};

/** The values of each component, on top of the base. */
const components: Record<string, object> = {
  autoscaling: {
    web: { autoscaling: { enabled: true } },
    proxy: { autoscaling: { enabled: true }, tls: { existingSecret: "proxy-tls" } },
  },
  "cert-manager": { proxy: { tls: { existingSecret: "proxy-tls", certManager: { enabled: true } } } },
  "disruption-budget": {
    web: { podDisruptionBudget: { enabled: true } },
    proxy: { podDisruptionBudget: { enabled: true } },
  },
  "gateway-api": { gateway: { enabled: true, className: "yours" } },
  http3: { proxy: { http3: { enabled: true } } },
  "ingest-ca": { sentry: { caConfigMap: "ingest-ca" } },
  "load-balancer": { proxy: { service: { type: "LoadBalancer" } } },
  "local-ingest": { localIngest: { enabled: true, image: { repository: "culvert-ingest", tag: "local" } } },
  monitoring: { monitoring: { enabled: true } },
  "node-port": { proxy: { service: { type: "NodePort" } } },
  "previous-release": { web: { previousRelease: { enabled: true } } },
  "shared-cache": { cache: { enabled: true } },
  spool: { spool: { enabled: true } },
  tls: { proxy: { tls: { existingSecret: "proxy-tls" } } },
};

describe.skipIf(!canRender || !hasHelm)("the chart equals kustomize, object by object:", () => {
  test("its defaults are overlays/production", () => {
    const settings = { SERVER_NAME: "app.example.com", SENTRY_ENVIRONMENT: "production" };
    const own = {
      settings,
      networkPolicy: { defaultDeny: true },
      web: { previousRelease: { image: { tag: "0.9.0" } } },
    };
    // The chart has these only where they are used.
    const unused = /^NetworkPolicy (cache|ingest)$/;
    const kustomize = rendering("production").filter(({ kind, metadata }) => !unused.test(`${kind} ${metadata.name}`));
    const chart = template(merge(images("1.0.0"), name, own));
    expect(comparable(chart, "culvert")).toEqual(comparable(kustomize, "culvert"));
  });

  test.each(Object.entries(components))("the base with %s", (component, values) => {
    const tags = ["proxy", "spool", "web"].map(
      (one) => `{ name: culvert-${one}, newName: x/culvert-${one}, newTag: v1 }`,
    );
    const previous = "{ name: culvert-web-previous, newName: x/culvert-web, newTag: v1 }";
    const expected = renderWith(
      component === "autoscaling" ? [component, "tls"] : [component],
      `images: [${[...tags, previous]}]\n`,
      ["release"],
    );
    const found = comparable(template(merge(images("v1", "x"), base, values)), "culvert");
    expect(found).toEqual(comparable(expected, "culvert"));
  });
});

describe.skipIf(!hasHelm)("the chart", () => {
  const values = (more: object) => merge(images("1.0.0"), more);
  const find = (objects: Resource[], kind: string, called: string) => {
    const found = objects.find((one) => one.kind === kind && one.metadata.name === called);
    if (!found) throw new Error(`there is no ${kind} ${called}`);
    return found;
  };

  test("installs two releases in one namespace, without a name or a selected pod in common", () => {
    const [one, two] = ["shop", "blog"].map((release) => template(values({}), { release, tests: true })) as [
      Resource[],
      Resource[],
    ];
    const names = (objects: Resource[]) => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names(one).filter((each) => names(two).includes(each))).toEqual([]);
    for (const { spec } of of(two, "Service"))
      expect(spec?.selector).toMatchObject({ "app.kubernetes.io/instance": "blog" });
    expect(find(one, "Deployment", "shop-culvert-web").metadata.labels).toMatchObject({
      "helm.sh/chart": "culvert-0.0.0",
      "app.kubernetes.io/instance": "shop",
    });
  });

  test("asks an app's health path once it is declared, below its base path", () => {
    const probes = (settings: object) => {
      const web = workloads(template(values({ settings }))).find(({ name }) => name === "culvert-web")?.pod
        .containers[0];
      return [web?.startupProbe ?? {}, web?.readinessProbe ?? {}, web?.livenessProbe ?? {}];
    };
    for (const { httpGet, tcpSocket } of probes({ BASE_PATH: "/shop" }))
      expect([httpGet, tcpSocket]).toEqual([undefined, { port: "http" }]);
    for (const { httpGet, tcpSocket } of probes({ BASE_PATH: "/shop", HEALTH_PATH: "/ready" }))
      expect([httpGet, tcpSocket]).toEqual([expect.objectContaining({ path: "/shop/ready", port: "http" }), undefined]);
  });

  test("takes what a platform team sets", () => {
    const pod = {
      nodeSelector: { pool: "apps" },
      tolerations: [{ key: "x", operator: "Exists" }],
      affinity: { nodeAffinity: {} },
      podAnnotations: { team: "shop" },
    };
    const set = {
      imagePullSecrets: [{ name: "registry" }],
      settings: {
        SPOOL_MAX_MB: "2048",
        SPOOL_MAX_AGE: "7d",
        SPOOL_RATE: "100",
        SERVER_NAME: "app.example.com,  www.example.com ",
      },
      web: {
        ...pod,
        extraEnv: [{ name: "API", value: "x" }],
        image: { digest: `sha256:${"0".repeat(64)}` },
        resources: { requests: { cpu: "1" } },
        autoscaling: { maxReplicas: 30 },
        serviceAccount: { annotations: { role: "arn" } },
      },
      proxy: { ...pod, service: { annotations: { lb: "external" } }, tls: { certManager: { enabled: true } } },
      spool: { ...pod, persistence: { size: "4Gi", storageClass: "fast" } },
      networkPolicy: { ingest: [{ to: [{ ipBlock: { cidr: "10.0.5.0/24" } }], ports: [{ port: 9000 }] }] },
    };
    const local = { enabled: true, image: { tag: "1.0.0" } };
    for (const each of workloads(template(values({ ...set, localIngest: local }))))
      expect(each.pod, each.name).toMatchObject({ imagePullSecrets: [{ name: "registry" }] });
    const objects = template(values(set));
    const text = (kind: string, called: string) => JSON.stringify(find(objects, kind, `culvert-${called}`));
    for (const each of workloads(objects))
      expect(each.pod).toMatchObject({
        nodeSelector: pod.nodeSelector,
        tolerations: pod.tolerations,
        affinity: pod.affinity,
      });
    expect(text("ConfigMap", "spool-settings")).toContain(
      '"data":{"SPOOL_MAX_MB":"2048","SPOOL_MAX_AGE":"7d","SPOOL_RATE":"100"}',
    );
    expect(text("Deployment", "web")).toMatch(/"name":"API","value":"x".*"cpu":"1"/);
    expect(text("Deployment", "web")).toContain(`culvert-web:1.0.0@sha256:${"0".repeat(64)}`);
    expect(text("HorizontalPodAutoscaler", "web")).toContain('"maxReplicas":30');
    expect(text("ServiceAccount", "web")).toContain('"annotations":{"role":"arn"}');
    expect(text("Service", "proxy")).toContain('"annotations":{"lb":"external"}');
    expect(text("StatefulSet", "spool")).toMatch(/"storageClassName":"fast".*"4Gi"/);
    for (const called of ["proxy", "spool"])
      expect(text("NetworkPolicy", called)).toMatch(/"port":9000.*10\.0\.5\.0\/24/);
    expect(text("Certificate", "proxy")).toContain('"dnsNames":["app.example.com","www.example.com"]');
    expect(objects.some(({ metadata }) => metadata.name.endsWith("default-deny"))).toBe(false);
  });

  test("replaces the pods that read a changed setting, and no others", () => {
    const checksums = (settings: object) =>
      template(values({ settings }))
        .filter(({ kind }) => /Deployment|StatefulSet/.test(kind))
        .map((one) => JSON.stringify(one).match(/checksum\/settings":"(\w+)/)?.[1]);
    const [before, after] = [checksums({}), checksums({ SPOOL_RATE: "7" })];
    expect(before.map((one, at) => one === after[at]).sort()).toEqual([false, true, true]);
  });

  test("has valid objects, those of helm test and of all components too", async () => {
    const all = merge(values({}), ...Object.values(components).filter((one) => !("gateway" in one)), {
      gateway: { enabled: true, className: "x" },
    });
    for (const objects of [template(values({}), { tests: true }), template(all)])
      for (const object of objects)
        expect(await schemaProblems(object), `${object.kind} ${object.metadata.name}`).toEqual([]);
  });

  test.each<[what: string, more: object, message: RegExp]>([
    ["an unknown value", { spol: {} }, /additional properties 'spol' not allowed/],
    ["a value of another type", { spool: { enabled: "yes" } }, /'\/spool\/enabled': got string, want boolean/],
    ["an unknown setting", { settings: { SERVERNAME: "x" } }, /SERVERNAME/],
    ["a secret among the settings", { settings: { SENTRY_DSN: "https://k@o1.ingest.sentry.io/2" } }, /SENTRY_DSN/],
    ["no image", { web: { image: null } }, /'\/web': missing property 'image'/],
    [
      "an image without a tag",
      { web: { image: { tag: "" } } },
      /web\.image\.tag: not set: set web\.image\.repository and web\.image\.tag/,
    ],
    [
      "replicas together with autoscaling",
      { web: { replicas: 3 } },
      /web\.replicas: the autoscaler sets the number: set web\.autoscaling\.minReplicas/,
    ],
    [
      "two kinds of Service",
      { proxy: { service: { type: "NodePort,LoadBalancer" } } },
      /'\/proxy\/service\/type': value must be one of/,
    ],
    [
      "several proxies without a certificate",
      { proxy: { tls: { existingSecret: "" } } },
      /proxy\.tls\.existingSecret: not set/,
    ],
    [
      "a gateway without a class",
      { gateway: { enabled: true }, proxy: { service: { type: "ClusterIP" } } },
      /gateway\.className: not set/,
    ],
    [
      "a gateway beside a load balancer",
      { gateway: { enabled: true, className: "x" } },
      /gateway\.enabled: the proxy has a load balancer, too: set proxy\.service\.type=ClusterIP/,
    ],
  ])("rejects %s, by its name", (_, more, message) => {
    expect(() => template(values(more))).toThrow(message);
  });

  test("documents every value by a comment, or has a name that Kubernetes documents", () => {
    const { properties } = JSON.parse(readFileSync(`${chart}/values.schema.json`, "utf8"));
    expect(Object.keys(parse(readFileSync(`${chart}/values.yaml`, "utf8"))).sort()).toEqual(
      Object.keys(properties)
        .filter((one) => one !== "global")
        .sort(),
    );
  });

  test("lists in its notes what the values need", () => {
    const notes = (more: object) =>
      helm(["install", "shop", chart, "--dry-run=client", "--values=-"], JSON.stringify(values(more)));
    expect(notes({})).toMatch(/create secret tls proxy-tls[\s\S]*helm test shop/);
    expect(notes({ proxy: { tls: { certManager: { enabled: true } } } })).not.toMatch(/create secret tls/);
    expect(notes({ cache: { enabled: true }, sentry: { caConfigMap: "ca" } })).toMatch(/shared-cache.*configmap ca/s);
    expect(notes({ proxy: { service: { type: "NodePort" } } })).toMatch(/port 30443/);
  });
});
