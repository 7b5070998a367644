import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { chart, hasHelm, helm, images, template } from "./lib/chart.ts";
import { controllers, find, of, type Part, podOf, pods, type Resource } from "./lib/objects.ts";
import { kubernetes } from "./lib/paths.ts";
import { canRender, rendering, renderWith } from "./lib/render.ts";
import { comparable, prefix } from "./lib/same-objects.ts";
import { schemaProblems } from "./lib/schema.ts";

const name = { fullnameOverride: prefix };
const off = { enabled: false };
const clusterIp = { service: { type: "ClusterIP" } };
const unscaled = { replicas: null, autoscaling: off, podDisruptionBudget: off };

/** The values that correspond to the base alone. */
const base = {
  ...name,
  settings: { HTTPS_PORT: "" },
  spool: off,
  networkPolicy: off,
  proxy: { ...unscaled, ...clusterIp, tls: { existingSecret: "" } },
  web: { ...unscaled, previousRelease: off },
};

const settings = `configMapGenerator:
  - { name: proxy-settings, behavior: merge, literals: [TRUSTED_PROXIES=10.244.0.0/16] }
`;
const trusted = { settings: { TRUSTED_PROXIES: "10.244.0.0/16" } };
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
  "http-route": { httpRoute: { enabled: true, parentRefs: [{ name: "gateway", namespace: "gateway" }] }, ...trusted },
  http3: { proxy: { http3: { enabled: true } } },
  ingress: { ingress: { enabled: true, className: "traefik" }, ...trusted },
  "ingest-ca": { sentry: { caConfigMap: "ingest-ca" } },
  "load-balancer": { proxy: { service: { type: "LoadBalancer" } } },
  "local-ingest": { localIngest: { enabled: true, image: { repository: "culvert-ingest", tag: "local" } } },
  monitoring: { monitoring: { enabled: true } },
  "node-port": { proxy: { service: { type: "NodePort" } } },
  "previous-release": { web: { previousRelease: { enabled: true, image: { tag: "v0" } } } },
  "shared-cache": { cache: { enabled: true } },
  spool: { spool: { enabled: true, replicas: 1 } },
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
    const found = template([images("1.0.0"), name, own]);
    expect(comparable(found, "culvert")).toEqual(comparable(kustomize, "culvert"));
  });

  test.each(Object.entries(components))("the base with %s", (component, values) => {
    const own = ["proxy", "spool", "web"].map(
      (one) => `{ name: culvert-${one}, newName: x/culvert-${one}, newTag: v1 }`,
    );
    const tags = `images: [${own}, { name: culvert-web-previous, newName: x/culvert-web, newTag: v0 }]\n`;
    const front = ["http-route", "ingress"].includes(component) ? settings : "";
    const copy = component === "previous-release" ? [`components/${component}/copy`] : [];
    const several = component === "autoscaling" ? [component, "tls"] : [component];
    const expected = renderWith(several, tags + front, ["release", ...copy]);
    const found = template([images("v1", "x"), base, values]);
    expect(comparable(found, "culvert")).toEqual(comparable(expected, "culvert"));
  });
});

describe.skipIf(!hasHelm)("the chart", () => {
  const values = (...more: object[]) => [images("1.0.0"), ...more];

  test("installs two releases in one namespace, without a name or a selected pod in common", () => {
    const [one = [], two = []] = ["shop", "blog"].map((release) => template(values(), { release, tests: true }));
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
    const [web] = podOf(template(values({ settings })), "culvert-web").containers;
    for (const { tcpSocket, httpGet } of [web.startupProbe, web.readinessProbe, web.livenessProbe])
      expect({ tcpSocket, httpGet }).toEqual(probe);
  });

  test("takes what a platform team sets", () => {
    const placed = {
      nodeSelector: { pool: "apps" },
      tolerations: [{ key: "x", operator: "Exists" }],
      affinity: { nodeAffinity: {} },
    };
    const own = { ...placed, podAnnotations: { team: "shop" } };
    const spool = { SPOOL_MAX_MB: "2048", SPOOL_MAX_AGE: "7d", SPOOL_RATE: "100" };
    const imagePullSecrets = [{ name: "registry" }];
    const set = {
      imagePullSecrets,
      settings: { ...spool, SERVER_NAME: "app.example.com,  www.example.com " },
      web: {
        ...own,
        extraEnv: [{ name: "API", value: "x" }],
        image: { digest: `sha256:${"0".repeat(64)}` },
        resources: { requests: { cpu: "1" } },
        autoscaling: { maxReplicas: 30 },
        serviceAccount: { annotations: { role: "arn" } },
      },
      proxy: { ...own, service: { annotations: { lb: "external" } }, tls: { certManager: { enabled: true } } },
      spool: { ...own, persistence: { size: "4Gi", storageClass: "fast" } },
      networkPolicy: { ingest: [{ to: [{ ipBlock: { cidr: "10.0.5.0/24" } }], ports: [{ port: 9000 }] }] },
    };
    const local = { localIngest: { enabled: true, image: { tag: "1.0.0" } } };
    for (const { spec } of pods(template(values(set, local)))) expect(spec).toMatchObject({ imagePullSecrets });
    const objects = template(values(set));
    for (const { spec } of pods(objects)) expect(spec).toMatchObject(placed);
    expect(find(objects, "ConfigMap", "culvert-spool").data).toMatchObject(spool);
    expect(find(objects, "Certificate", "culvert").spec.dnsNames).toEqual(["app.example.com", "www.example.com"]);
    const texts: [kind: string, name: string, text: RegExp][] = [
      ["Deployment", "web", /"name":"API","value":"x".*"cpu":"1"/],
      ["Deployment", "web", /culvert-web:1\.0\.0@sha256:0{64}"/],
      ["HorizontalPodAutoscaler", "web", /"maxReplicas":30/],
      ["ServiceAccount", "web", /"annotations":{"role":"arn"}/],
      ["Service", "proxy", /"annotations":{"lb":"external"}/],
      ["StatefulSet", "spool", /"storageClassName":"fast".*"4Gi"/],
      ["NetworkPolicy", "proxy", /"port":9000.*10\.0\.5\.0\/24/],
      ["NetworkPolicy", "spool", /"port":9000.*10\.0\.5\.0\/24/],
    ];
    for (const [kind, name, text] of texts)
      expect(JSON.stringify(find(objects, kind, `culvert-${name}`))).toMatch(text);
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

  test("has valid objects, those of helm test and of all components too", async () => {
    for (const objects of [template(values(), { tests: true }), template(values(...Object.values(components)))])
      for (const object of objects)
        expect(await schemaProblems(object), `${object.kind} ${object.metadata.name}`).toEqual([]);
  });

  test("has a Pod as its only hook, so that helm test prints its lines: the Pod and the rights of verify/", () => {
    const objects = template(values({ imagePullSecrets: [{ name: "registry" }] }), { tests: true });
    const hooks = objects.filter(({ metadata }) => JSON.stringify(metadata).includes("helm.sh/hook"));
    expect(hooks.map(({ kind, metadata }) => [kind, metadata.annotations])).toEqual([
      ["Pod", { "helm.sh/hook": "test", "helm.sh/hook-delete-policy": "before-hook-creation" }],
    ]);
    const files = ["access", "job"].map((one) => readFileSync(`${kubernetes}/verify/${one}.yaml`, "utf8"));
    const verify = files.flatMap((text) => parseAllDocuments(text).map((document): Resource => document.toJS()));
    const specOf = ({ containers, volumes, serviceAccountName, imagePullSecrets, ...spec }: Part) => {
      const [{ image, env, envFrom, ...container }] = containers;
      return { ...spec, container };
    };
    expect(specOf(hooks[0]?.spec)).toEqual(specOf(find(verify, "Job", "").spec.template.spec));
    for (const kind of ["Role", "NetworkPolicy"]) {
      const { kind: _, apiVersion, metadata, ...own } = find(objects, kind, "culvert-test");
      expect(find(verify, kind, "")).toMatchObject(own);
    }
    expect(of(template(values({ networkPolicy: off }), { tests: true }), "NetworkPolicy")).toEqual([]);
    // verify-cluster deletes its objects when it ends.
    const names = verify.map(({ metadata }) => metadata.name);
    expect(objects.filter(({ metadata }) => names.includes(metadata.name))).toEqual([]);
  });

  test("behind an Ingress or a Gateway needs no certificate, and lets in nothing but the front", () => {
    const ingress = {
      ...{ enabled: true, className: "nginx", annotations: { "cert-manager.io/cluster-issuer": "letsencrypt" } },
      hosts: [{ host: "app.example.com", paths: [{ path: "/", pathType: "ImplementationSpecific" }] }],
      tls: [{ secretName: "app-tls", hosts: ["app.example.com"] }],
    };
    const front = [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "ingress" } } }];
    const httpRoute = { enabled: true, parentRefs: [{ name: "public", namespace: "gateways" }] };
    const objects = template(
      values({
        ...{ ingress, httpRoute, networkPolicy: { front } },
        settings: { ...trusted.settings, SERVER_NAME: "app.example.com www.example.com" },
        proxy: { ...clusterIp, tls: { existingSecret: "" } },
      }),
    );
    expect(find(objects, "Service", "culvert-proxy").spec.type).toBeUndefined();
    const { tls, rules } = find(objects, "Ingress", "culvert-proxy").spec;
    expect([tls, rules[0].http.paths[0].pathType]).toEqual([ingress.tls, "ImplementationSpecific"]);
    expect(find(objects, "HTTPRoute", "culvert-site").spec.hostnames).toEqual(["app.example.com", "www.example.com"]);
    const [open] = find(objects, "NetworkPolicy", "culvert-proxy").spec.ingress;
    const verify = { podSelector: { matchLabels: { "app.kubernetes.io/name": "culvert-verify" } } };
    expect(open).toEqual({ from: [...front, verify], ports: [{ protocol: "TCP", port: 8080 }] });
  });

  const gateway = { enabled: true, className: "x" };
  test.each<[what: string, more: object, message: RegExp]>([
    ["an unknown value", { spol: {} }, /additional properties 'spol' not allowed/],
    ["a value of another type", { spool: { enabled: "yes" } }, /'\/spool\/enabled': got string, want boolean/],
    ["an unknown setting", { settings: { SERVERNAME: "x" } }, /SERVERNAME/],
    ["a secret among the settings", { settings: { SENTRY_DSN: "https://k@o1.ingest.sentry.io/2" } }, /SENTRY_DSN/],
    ["an image without a tag", { web: { image: { tag: "" } } }, /web\.image\.tag: not set: set web\.image/],
    ["replicas with autoscaling", { web: { replicas: 3 } }, /web\.replicas: .*: set web\.autoscaling\.minReplicas/],
    ["proxies without a certificate", { proxy: { tls: { existingSecret: "" } } }, /proxy\.tls\.existingSecret: not/],
    ["a gateway without a class", { gateway: { enabled: true }, proxy: clusterIp }, /gateway\.className: not set/],
    [
      "an Ingress beside a load balancer",
      { ingress: { enabled: true }, ...trusted },
      /set proxy\.service\.type=ClusterIP/,
    ],
    [
      "an Ingress that is not trusted",
      { ingress: { enabled: true }, proxy: clusterIp },
      /settings\.TRUSTED_PROXIES: not set/,
    ],
    [
      "a route without a Gateway",
      { httpRoute: { enabled: true }, proxy: clusterIp, ...trusted },
      /httpRoute\.parentRefs: not set/,
    ],
    ["a gateway beside a load balancer", { gateway }, /gateway\.enabled: .*: set proxy\.service\.type=ClusterIP/],
  ])("rejects %s, by its name", (_, more, message) => {
    expect(() => template(values(more))).toThrow(message);
  });

  test("has each value in values.yaml, which documents it", () => {
    const { properties } = JSON.parse(readFileSync(`${chart}/values.schema.json`, "utf8"));
    const documented = Object.keys(parse(readFileSync(`${chart}/values.yaml`, "utf8")));
    expect(["global", ...documented].sort()).toEqual(Object.keys(properties).sort());
  });

  test("lists in its notes what the values need", () => {
    const notes = (more: object) => helm(["install", "shop", chart, "--dry-run=client"], values(more));
    expect(notes({})).toMatch(/create secret tls proxy-tls[\s\S]*helm test shop/);
    expect(notes({ test: { enabled: false } })).not.toMatch(/helm test/);
    expect(notes({ proxy: { tls: { certManager: { enabled: true } } } })).not.toMatch(/create secret tls/);
    expect(notes({ cache: { enabled: true }, sentry: { caConfigMap: "ca" } })).toMatch(/shared-cache.*configmap ca/s);
    expect(notes({ proxy: { service: { type: "NodePort" } } })).toMatch(/port 30443/);
  });
});
