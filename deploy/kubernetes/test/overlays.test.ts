import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { facts } from "./lib/facts.ts";
import { containers, minReplicas, of, type Resource, workloads } from "./lib/objects.ts";
import { folders, kubernetes, root } from "./lib/paths.ts";
import { canRender, rendering, renderWith } from "./lib/render.ts";
import { operator } from "./lib/test-run.ts";
import { references } from "./rules/references.ts";

const kustomization = (overlay: string) => readFileSync(`${kubernetes}/overlays/${overlay}/kustomization.yaml`, "utf8");
const readme = () => readFileSync(`${kubernetes}/README.md`, "utf8");

test.each(folders("overlays"))("overlay %s only composes, in 40 lines at most", (overlay) => {
  expect(kustomization(overlay).trimEnd().split("\n").length).toBeLessThanOrEqual(40);
  expect(kustomization(overlay)).not.toMatch(/^patches:/m);
});

test("the README names the version of k6-operator whose schema is tested", () => {
  expect(readme()).toMatch(new RegExp(`^- \`loadtest\`: .*k6-operator ${operator.replace(".", "\\.")}\\.$`, "m"));
});

test("the README says what every component adds", () => {
  const rows = [...readme().matchAll(/^- `([a-z0-9-]+)`: /gm)].map(([, name]) => name);
  expect(folders("components").filter((name) => !rows.includes(name))).toEqual([]);
});

describe.skipIf(!canRender)("rendered", () => {
  let overlays: Record<string, Resource[]>;
  beforeAll(() => {
    overlays = Object.fromEntries(folders("overlays").map((name) => [name, rendering(name)]));
  });
  const setting = (objects: Resource[], name: string) =>
    of(objects, "ConfigMap").flatMap(({ data }) => (data && name in data ? [data[name]] : []))[0];

  test("each overlay has a namespace and an environment of its own", () => {
    const namespaces = Object.values(overlays).map((objects) => objects[0]?.metadata.name);
    const environments = Object.values(overlays).map((objects) => setting(objects, "SENTRY_ENVIRONMENT"));
    expect(new Set(namespaces).size).toBe(namespaces.length);
    expect(environments).toEqual(Object.keys(overlays));
  });

  test("the release of events is the tag of web's image", () => {
    for (const objects of Object.values(overlays)) {
      const image = workloads(objects).find(({ name }) => name === "web")?.pod.containers[0]?.image;
      expect(image).toMatch(new RegExp(`:${setting(objects, "SENTRY_RELEASE")}$`));
    }
  });

  test("production runs three web and two proxy, with an autoscaler, a budget, network policies and its own certificate", () => {
    const production = overlays.production ?? [];
    expect([minReplicas(production, "web"), minReplicas(production, "proxy")]).toEqual([3, 2]);
    const kinds = production.map(({ kind }) => kind);
    for (const kind of ["HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy"])
      expect(kinds).toContain(kind);
    const proxy = workloads(production).find(({ name }) => name === "proxy");
    expect(proxy?.pod.volumes).toContainEqual({ name: "tls", secret: { secretName: "proxy-tls", defaultMode: 0o440 } });
    expect(proxy?.pod.securityContext?.fsGroup).toBe(101);
  });

  test("plain HTTP is redirected to the published port", () => {
    for (const objects of Object.values(overlays)) {
      const { type, ports = [] } = of(objects, "Service").find(({ metadata }) => metadata.name === "proxy")?.spec ?? {};
      const https = ports.find(({ name }) => name === "https");
      expect(setting(objects, "HTTPS_PORT")).toBe(`${type === "NodePort" ? https?.nodePort : https?.port}`);
    }
  });

  test("Deployments with several pods have a disruption budget", () => {
    for (const objects of Object.values(overlays)) {
      const budgets = of(objects, "PodDisruptionBudget").map(({ metadata }) => metadata.name);
      const several = of(objects, "Deployment").filter(({ metadata }) => minReplicas(objects, metadata.name) > 1);
      expect(budgets).toEqual(several.map(({ metadata }) => metadata.name));
    }
  });

  test("a generated Secret or ConfigMap is referenced by its hashed name everywhere, so that a change restarts all of its readers", () => {
    const generated = renderWith(
      ["spool", "shared-cache", "ingest-ca"],
      `secretGenerator:
  - { name: sentry, literals: [dsn=https://key@ingest.example/1] }
  - { name: shared-cache, literals: [password=secret] }
configMapGenerator:
  - { name: ingest-ca, literals: [ca.crt=PEM] }
`,
    );
    const read = references(generated).filter(({ name }) => /^(sentry|shared-cache|ingest-ca)/.test(name));
    expect(read.filter(({ name }) => !/-[a-z0-9]{10}$/.test(name))).toEqual([]);
    expect(new Set(read.map(({ at }) => at.split("/")[0]))).toEqual(new Set(["proxy", "web", "spool", "cache"]));
  });

  test("with the local ingest no pod waits for the Secret of a Sentry", () => {
    const env = containers(renderWith(["spool", "loadtest", "local-ingest"])).flatMap(
      ({ container }) => container.env ?? [],
    );
    const secrets = env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []);
    expect(secrets.filter(({ optional }) => !optional)).toEqual([]);
  });

  test("several proxies never generate a certificate each", () => {
    for (const objects of Object.values(overlays).filter((objects) => minReplicas(objects, "proxy") > 1)) {
      const proxy = workloads(objects).find(({ name }) => name === "proxy");
      expect(proxy?.pod.containers[0]?.env?.map(({ name }) => name)).toContain("TLS_CERT_FILE");
    }
  });

  test("SERVER_NAME is in the certificate and in every route", () => {
    const objects = renderWith(["cert-manager", "gateway-api", "loadtest"]);
    const text = JSON.stringify(objects.filter(({ kind }) => /Certificate|Gateway|Route|TestRun/.test(kind)));
    expect(text).not.toContain("SERVER_NAME");
    expect(text).toContain('"dnsNames":["localhost"]');
    expect(text).toContain('"value":"https://localhost"');
    expect(text.match(/"hostnames":\["localhost"\]/g)).toHaveLength(1);
  });

  test("a terminating pod keeps serving until it gets no new requests, and then has the time to finish", () => {
    const drain = (name: string) => {
      const pod = workloads(overlays.production ?? []).find((workload) => workload.name === name)?.pod;
      const preStop = pod?.containers[0]?.lifecycle?.preStop?.sleep?.seconds ?? 0;
      return { preStop, rest: (pod?.terminationGracePeriodSeconds ?? 30) - preStop };
    };
    expect(drain("web").preStop).toBeGreaterThanOrEqual(facts.clusterDnsCache + facts.resolverValid);
    expect(drain("web").rest).toBeGreaterThan(facts.webFinish);
    expect(drain("proxy").preStop).toBeGreaterThanOrEqual(facts.loadBalancerDeregistration);
    expect(drain("proxy").rest).toBeGreaterThan(facts.maxRequest);
    for (const name of ["web", "proxy"])
      expect(readme()).toMatch(
        new RegExp(`terminating\\s\`${name}\`\\skeeps\\sserving\\sfor\\s${drain(name).preStop}\\ss,`),
      );
  });

  test("the README's numbers for capacity and for a lost node are those of production", () => {
    const production = overlays.production ?? [];
    const row = (name: string) => {
      const spec = of(production, "Deployment").find(({ metadata }) => metadata.name === name)?.spec;
      const bounds = of(production, "HorizontalPodAutoscaler").find(({ metadata }) => metadata.name === name)?.spec;
      const pod = spec?.template.spec;
      const cpu = Number.parseInt(String(pod?.containers[0]?.resources?.requests?.cpu), 10) / 1000;
      const surge = spec?.strategy?.rollingUpdate?.maxSurge ?? 0;
      const skew = pod?.topologySpreadConstraints?.find(
        ({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule",
      );
      const waits = (spec?.minReadySeconds ?? 0) >= (pod?.terminationGracePeriodSeconds ?? 0);
      const sizes = [bounds?.minReplicas ?? 0, bounds?.maxReplicas ?? 0];
      const extra = (n: number) =>
        typeof surge === "string" ? Math.ceil((n * Number.parseInt(surge, 10)) / 100) : surge;
      // Serving pods, new ones, and terminating ones: as many as new ones, or all.
      const peak = sizes.map((n) => n + extra(n) + (waits ? extra(n) : n));
      const cpus = peak.map((n) => Math.round(n * cpu * 10) / 10);
      const onOneNode = sizes.map((n) => `${Math.floor((n + (skew?.maxSkew ?? n)) / 2)} of ${n}`);
      return `| \`${name}\` | ${sizes.join(" to ")} | ${peak.join(" to ")} pods: ${cpus.join(" to ")} CPUs | ${onOneNode.join(", ")} |`;
    };
    for (const name of ["web", "proxy"]) expect(readme()).toContain(row(name));
  });

  test("READMEs apply with --server-side --force-conflicts, because `rollout undo` and others leave conflicts", () => {
    for (const file of [`${kubernetes}/README.md`, `${root}/README.md`]) {
      const commands = readFileSync(file, "utf8").match(/kubectl (apply|diff) .*/g) ?? [];
      expect(commands.filter((command) => !command.includes(" --server-side --force-conflicts "))).toEqual([]);
    }
  });

  test("the README restarts by the label that all controllers have", () => {
    expect(readme()).toContain("rollout restart deployment,statefulset -l app.kubernetes.io/part-of=culvert");
    expect(readme()).not.toContain("kustomize edit");
  });
});
