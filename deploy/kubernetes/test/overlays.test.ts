import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import {
  controllers,
  find,
  matches,
  minReplicas,
  of,
  type Part,
  podOf,
  pods,
  type Resource,
  references,
} from "./lib/objects.ts";
import { folders, kubernetes, root } from "./lib/paths.ts";
import { canRender, rendering, renderWith } from "./lib/render.ts";

const readme = readFileSync(`${kubernetes}/README.md`, "utf8");

/** A number in a file of the repository. Throws if it is missing. */
function numberIn(file: string, pattern: RegExp): number {
  const [, number] = pattern.exec(readFileSync(`${root}/${file}`, "utf8")) ?? [];
  if (!number) throw new Error(`${file}: ${pattern} is missing`);
  return Number(number.replaceAll("_", ""));
}

test("the README says what every component adds", () => {
  const rows = [...readme.matchAll(/^- `([a-z0-9-]+)`: /gm)].map(([, name]) => name);
  expect(rows).toEqual(expect.arrayContaining(folders("components")));
});

test("READMEs apply with --server-side --force-conflicts, because `rollout undo` and others leave conflicts", () => {
  for (const file of [`${kubernetes}/README.md`, `${root}/README.md`]) {
    const commands = readFileSync(file, "utf8").match(/kubectl (apply|diff) .*/g) ?? [];
    expect(commands.filter((command) => !command.includes(" --server-side --force-conflicts "))).toEqual([]);
  }
});

describe.skipIf(!canRender)("rendered", () => {
  let overlays: [name: string, objects: Resource[]][];
  let production: Resource[];
  beforeAll(() => {
    overlays = folders("overlays").map((name) => [name, rendering(name)]);
    production = rendering("production");
  });
  const setting = (objects: Resource[], name: string) =>
    of(objects, "ConfigMap").find(({ data = {} }) => name in data)?.data?.[name];

  test("each overlay has a namespace and an environment of its own, and the release of web's image", () => {
    expect(new Set(overlays.map(([, [namespace]]) => namespace?.metadata.name)).size).toBe(overlays.length);
    for (const [name, objects] of overlays) {
      expect(setting(objects, "SENTRY_ENVIRONMENT")).toBe(name);
      expect(podOf(objects, "web").containers[0].image).toMatch(`:${setting(objects, "SENTRY_RELEASE")}`);
    }
  });

  test("plain HTTP is redirected to the published port", () => {
    for (const [, objects] of overlays) {
      const { type, ports } = find(objects, "Service", "proxy").spec;
      const { nodePort, port } = ports.find(({ name }: Part) => name === "https");
      expect(setting(objects, "HTTPS_PORT")).toBe(`${type === "NodePort" ? nodePort : port}`);
    }
  });

  test("the release before has web's pods as the overlay patches them, but its own image and release, and its own labels", () => {
    const patched = renderWith(
      ["previous-release", "shared-cache", "network-policy"],
      `images:
  - { name: culvert-web, newName: registry.example.com/shop, newTag: 1.5.0 }
  - { name: culvert-web-previous, newName: registry.example.com/shop, newTag: 1.4.0 }
patches:
  - target: { kind: Deployment, name: web }
    patch: |
      - { op: add, path: /spec/template/spec/containers/0/env/-, value: { name: API, value: https://api.example.com } }
      - { op: remove, path: /spec/template/spec/containers/0/livenessProbe }
      - { op: add, path: /spec/template/spec/imagePullSecrets, value: [{ name: registry }] }
      - { op: add, path: /spec/template/metadata/annotations, value: { team: shop } }
`,
      ["release", "components/previous-release/copy"],
    );
    const [web, previous] = ["web", "web-previous"].map((name) => {
      const found = controllers(patched).find(({ metadata }) => metadata.name === name);
      return structuredClone(found?.spec.template);
    });
    const labels = (version: string, name: string) => ({
      "app.kubernetes.io/component": "web",
      "app.kubernetes.io/name": name,
      "app.kubernetes.io/part-of": "culvert",
      "app.kubernetes.io/version": version,
    });
    expect([web.metadata, previous.metadata]).toEqual([
      { labels: labels("1.5.0", "web"), annotations: { team: "shop" } },
      { labels: labels("1.4.0", "web-previous"), annotations: { team: "shop" } },
    ]);
    const [own, old] = [web.spec.containers[0], previous.spec.containers[0]];
    expect([own.image, old.image]).toEqual(["registry.example.com/shop:1.5.0", "registry.example.com/shop:1.4.0"]);
    expect(old.env.shift()).toEqual({ name: "SENTRY_RELEASE", value: "1.4.0" });
    expect(old.env).toContainEqual({ name: "API", value: "https://api.example.com" });
    old.image = own.image;
    delete web.spec.topologySpreadConstraints;
    web.spec.initContainers.pop();
    expect(previous.spec).toEqual(web.spec);
  });

  test("in a rollout, each release's Service has its pods of both Deployments, and web its own alone", () => {
    const pod = (name: string, version: string) => ({
      ...controllers(production).find(({ metadata }) => metadata.name === name)?.spec.template.metadata.labels,
      "app.kubernetes.io/version": version,
    });
    const selected = (service: string, labels: Record<string, string>) =>
      matches(of(production, "Service").find(({ metadata }) => metadata.name === service)?.spec.selector, labels);
    const pods: [name: string, labels: Record<string, string>, services: string[]][] = [
      ["a new pod", pod("web", "1.0.0"), ["web", "web-all", "web-current"]],
      ["an old one", pod("web", "0.9.0"), ["web", "web-all", "web-previous"]],
      ["one of the release before", pod("web-previous", "0.9.0"), ["web-previous"]],
      ["one of two releases before", pod("web-previous", "0.8.0"), []],
    ];
    for (const [name, labels, services] of pods)
      expect(
        ["web", "web-all", "web-current", "web-previous"].filter((one) => selected(one, labels)),
        name,
      ).toEqual(services);
  });

  test("several pods have a disruption budget, and several proxies do not generate a certificate each", () => {
    for (const [, objects] of overlays) {
      const names = controllers(objects).map(({ metadata }) => metadata.name);
      const several = names.filter((name) => minReplicas(objects, name) > 1);
      const budgets = of(objects, "PodDisruptionBudget").map(({ metadata }) => metadata.name);
      expect(budgets).toEqual(expect.arrayContaining(several));
      const variables = podOf(objects, "proxy").containers[0].env.map(({ name }: Part) => name);
      if (several.includes("proxy")) expect(variables).toContain("TLS_CERT_FILE");
    }
  });

  test("a generated Secret or ConfigMap has its hashed name everywhere, so that a change restarts all of its readers", () => {
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
    expect(read.length).toBeGreaterThan(8);
    expect(read.filter(({ name }) => !/-[a-z0-9]{10}$/.test(name))).toEqual([]);
  });

  test("with the local ingest no pod waits for the Secret of a Sentry", () => {
    const all = pods(renderWith(["spool", "loadtest", "local-ingest"])).flatMap(({ spec }) => spec.containers);
    const secrets = all.flatMap(({ env = [] }) => env.flatMap(({ valueFrom }: Part) => valueFrom?.secretKeyRef ?? []));
    expect(secrets.filter(({ optional }) => !optional)).toEqual([]);
  });

  test("SERVER_NAME is in the certificate and in every route", () => {
    const objects = renderWith(["cert-manager", "gateway-api", "loadtest"]);
    const text = JSON.stringify(objects.filter(({ kind }) => /Certificate|Gateway|Route|TestRun/.test(kind)));
    expect(text).not.toContain("SERVER_NAME");
    expect(text).toContain('"dnsNames":["localhost"]');
    expect(text).toContain('"value":"https://localhost"');
    expect(text).toContain('"hostnames":["localhost"]');
  });

  test("the README names the version of k6-operator that the load test uses", () => {
    const { image } = find(rendering("base + loadtest"), "TestRun", "loadtest").spec.starter;
    const [, version] = /:starter-v(\d+\.\d+)/.exec(image) ?? [];
    expect(readme).toContain(`Needs k6-operator ${version}.`);
  });

  // CoreDNS caches answers for 30 s. A cloud's load balancer sends new connections until three health checks, 10 s apart, have failed.
  test("a terminating pod keeps serving until it gets no new requests, and then has the time to finish", () => {
    const drain = (name: string) => {
      const { containers, terminationGracePeriodSeconds } = podOf(production, name);
      const { seconds } = containers[0].lifecycle.preStop.sleep;
      expect(readme).toMatch(new RegExp(`terminating\\s\`${name}\`\\skeeps\\sserving\\sfor\\s${seconds}\\ss,`));
      return { preStop: seconds, rest: terminationGracePeriodSeconds - seconds };
    };
    const [web, proxy] = [drain("web"), drain("proxy")];
    const compose = numberIn("docker-compose.yml", /\n {2}web:\n(?: {4}.*\n)*? {4}stop_grace_period: (\d+)s/);
    const contract = numberIn("docs/your-app.md", /within (\d+) s of SIGTERM/);
    expect(web.preStop).toBeGreaterThanOrEqual(30 + numberIn("proxy/templates/resolver.conf", /valid=(\d+)s/));
    expect([web.rest, compose]).toEqual([contract, contract]);
    expect(proxy.preStop).toBeGreaterThanOrEqual(30);
    expect(proxy.rest).toBeGreaterThan(60);
  });

  test("the README's numbers for capacity and for a lost node are those of production", () => {
    for (const name of ["web", "proxy"]) {
      const { spec } = find(production, "Deployment", name);
      const scaler = find(production, "HorizontalPodAutoscaler", name).spec;
      const pod = spec.template.spec;
      const cpu = Number.parseInt(pod.containers[0].resources.requests.cpu, 10) / 1000;
      const surge = spec.strategy.rollingUpdate.maxSurge;
      const [{ maxSkew }] = pod.topologySpreadConstraints;
      const waits = (spec.minReadySeconds ?? 0) >= pod.terminationGracePeriodSeconds;
      const sizes = [scaler.minReplicas, scaler.maxReplicas];
      const extra = (n: number) =>
        Number.isInteger(surge) ? surge : Math.ceil((n * Number.parseInt(surge, 10)) / 100);
      // Serving pods, new ones, and terminating ones: as many as new ones, or all.
      const peak = sizes.map((n) => n + extra(n) + (waits ? extra(n) : n));
      const cpus = peak.map((n) => Math.round(n * cpu * 10) / 10);
      const onOneNode = sizes.map((n) => `${Math.floor((n + maxSkew) / 2)} of ${n}`);
      expect(readme).toContain(
        `| \`${name}\` | ${sizes.join(" to ")} | ${peak.join(" to ")} pods: ${cpus.join(" to ")} CPUs | ${onOneNode.join(", ")} |`,
      );
    }
  });
});
