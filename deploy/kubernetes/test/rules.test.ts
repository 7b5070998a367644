import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { root } from "../../test/support/docker.ts";
import { chart, everything, parse, rendering } from "./lib/chart.ts";
import {
  controllers,
  find,
  labelsOf,
  matches,
  of,
  type Part,
  podOf,
  type Resource,
  unprefixed,
} from "./lib/objects.ts";

const readme = readFileSync(`${chart}/README.md`, "utf8");

/** API versions that are stable in Kubernetes 1.30 to 1.36. */
const builtIn = ["v1", "apps/v1", "autoscaling/v2", "networking.k8s.io/v1", "policy/v1"];
const addOns = ["cert-manager.io/v1", "gateway.networking.k8s.io/v1", "monitoring.coreos.com/v1"];

/** The packages with the types of groups that are not Kubernetes' own. */
const packages: Record<string, string> = {
  "cert-manager.io": "@kubernetes-models/cert-manager",
  "gateway.networking.k8s.io": "@kubernetes-models/gateway-api",
  "monitoring.coreos.com": "@kubernetes-models/prometheus-operator",
};

/** An object's problems by its schema; unknown fields too, as with `kubectl --validate=strict`. */
async function schemaProblems(object: Resource): Promise<string[]> {
  const [version = "", group = ""] = object.apiVersion.split("/").reverse();
  const models = await import(
    /* @vite-ignore */ [packages[group] ?? "kubernetes-models", group, version].filter(Boolean).join("/")
  );
  // The validators read the fields of the schema only: one that was not read is unknown.
  const unread = new Set<string>();
  const watch = (value: unknown, path: string): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (!Array.isArray(value)) for (const key of Object.keys(value)) unread.add(`${path}/${key}`);
    const children = new Map<string | symbol, unknown>();
    return new Proxy(value, {
      get(target, key) {
        const at = `${path}/${String(key)}`;
        unread.delete(at);
        if (!children.has(key)) children.set(key, watch(Reflect.get(target, key), at));
        return children.get(key);
      },
    });
  };
  try {
    models[object.kind].prototype.validate.call(watch(object, ""));
  } catch (error) {
    return [(error as Error).message];
  }
  return [...unread].map((path) => `${path}: the schema has no such field`);
}

const pods = (objects: Resource[]): Resource[] => [
  ...controllers(objects).map((controller) => ({ ...controller, spec: controller.spec.template.spec })),
  ...of(objects, "Pod"),
];

function minReplicas(objects: Resource[], { metadata, spec }: Resource): number {
  const scaler = of(objects, "HorizontalPodAutoscaler").find(({ spec }) => spec.scaleTargetRef.name === metadata.name);
  return scaler?.spec.minReplicas ?? spec.replicas ?? 1;
}

function references(objects: Resource[]) {
  const found: { kind: string; name: string; key?: string }[] = [];
  JSON.stringify(objects, (field, value) => {
    const [, type = ""] = /^(configMap|secret)(Ref|KeyRef|)$/.exec(field) ?? [];
    const kind = type === "secret" ? "Secret" : "ConfigMap";
    if (type) found.push({ kind, name: value.name ?? value.secretName, key: value.key });
    return value;
  });
  return found;
}

const all = (kind: string): [object: Resource, objects: Resource[], at: string][] =>
  [...everything()].flatMap(([name, objects]) =>
    of(objects, kind).map((object): [Resource, Resource[], string] => [
      object,
      objects,
      `${name}: ${object.metadata.name}`,
    ]),
  );
test("every object is valid, in clusters from 1.30 to 1.36; the load test's example, too", async () => {
  const example = parse(readFileSync(`${root}loadtest/ci/kubernetes.yaml`, "utf8"));
  // k6-operator publishes no schema as a package.
  for (const objects of [example.filter(({ kind }) => kind !== "TestRun"), ...everything().values()]) {
    const names = objects.map(({ kind, apiVersion, metadata }) => `${apiVersion} ${kind} ${metadata.name}`);
    expect(names).toEqual([...new Set(names)]);
    for (const object of objects) {
      expect(await schemaProblems(object), `${object.kind} ${object.metadata.name}`).toEqual([]);
      expect([...builtIn, ...addOns]).toContain(object.apiVersion);
    }
  }
});

// https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
test("every pod is restricted and read-only, with requests, limits and fixed images, and no token or subPath", () => {
  const securityContext = { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } };
  const rights = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, readOnlyRootFilesystem: true };
  const both = { cpu: expect.anything(), memory: expect.anything() };
  const image = expect.stringMatching(/:(?!latest$)[\w.-]+$/);
  for (const { metadata, spec } of [...everything().values()].flatMap(pods)) {
    expect(spec, metadata.name).toMatchObject({ automountServiceAccountToken: false, securityContext });
    expect(spec.securityContext.runAsUser, metadata.name).toBeGreaterThan(0);
    expect(JSON.stringify(spec), metadata.name).not.toMatch(/"host(Network|PID|IPC|Port|Path)":|subPath/);
    for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
      expect(container.securityContext, metadata.name).toEqual(rights);
      expect(container, metadata.name).toMatchObject({ image, resources: { requests: both, limits: both } });
    }
  }
});

test("services have all probes, at named ports, and the labels by which others select them", () => {
  expect(readme).toContain("rollout restart deployment,statefulset -l app.kubernetes.io/part-of=culvert");
  for (const { metadata, spec } of [...everything().values()].flatMap(controllers)) {
    const [{ ports, startupProbe, readinessProbe, livenessProbe }] = spec.template.spec.containers;
    for (const probe of [startupProbe, readinessProbe, livenessProbe])
      expect(ports).toContainEqual(expect.objectContaining({ name: (probe.httpGet ?? probe.tcpSocket).port }));
    // A pod that is restarted on a node without spare CPU would begin its start again.
    const { periodSeconds, failureThreshold } = startupProbe;
    if (/proxy$|spool$/.test(metadata.name)) expect(periodSeconds * failureThreshold).toBeGreaterThanOrEqual(300);
    const labels = labelsOf(unprefixed(metadata.name));
    expect([metadata, spec.template.metadata]).toMatchObject([{ labels }, { labels }]);
    expect(spec.selector).toEqual({ matchLabels: labels });
  }
});

test("Services select a pod, and open a port that it names; only the proxy's translates ports", () => {
  for (const [{ spec }, objects, at] of all("Service")) {
    const selected = controllers(objects).filter((controller) =>
      matches(spec.selector, controller.spec.template.metadata.labels),
    );
    const open = selected.flatMap(({ spec }) => spec.template.spec.containers[0].ports);
    for (const { port, targetPort } of spec.ports) {
      const containerPort = { 80: 8080, 443: 8443 }[port as number] ?? port;
      expect(open, at).toContainEqual(expect.objectContaining({ name: targetPort, containerPort }));
    }
  }
});

test("ConfigMaps, Secrets and keys that pods reference are rendered, or in the README's table", () => {
  const rows = [...readme.matchAll(/^\| (Secret|ConfigMap) `([\w.-]+)` \| ([^|]+)\|/gm)];
  const documented = new Map(rows.map(([, kind, name, keys]) => [`${kind} ${name}`, keys ?? ""]));
  const named = new Set<string>();
  for (const [at, objects] of everything()) {
    const rendered = of(objects, "ConfigMap").map(({ metadata }) => `ConfigMap ${metadata.name}`);
    for (const { kind, name, key = "" } of references(objects)) {
      if (rendered.includes(`${kind} ${name}`)) continue;
      expect(documented.get(`${kind} ${name}`), `${at}: ${kind} ${name}`).toContain(key && `\`${key}\``);
      named.add(`${kind} ${name}`);
    }
  }
  expect([...documented.keys()].sort()).toEqual([...named].sort());
});

test("an autoscaler alone sets the number of pods; a drain may evict one of several", () => {
  for (const [{ metadata }, objects, at] of all("HorizontalPodAutoscaler"))
    expect(find(objects, "Deployment", unprefixed(metadata.name)).spec.replicas, at).toBeUndefined();
  const policy = { maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow" };
  for (const [at, objects] of everything()) {
    const several = controllers(objects).filter((controller) => minReplicas(objects, controller) > 1);
    const budgets = of(objects, "PodDisruptionBudget").map(({ metadata, spec }) => [metadata.name, spec]);
    for (const { metadata, spec } of several)
      expect(budgets, at).toContainEqual([metadata.name, { ...policy, selector: spec.selector }]);
  }
});

// The API server rejects a change of these fields: a release would have to delete the StatefulSet, or lose its claims.
// OrderedReady: https://github.com/kubernetes/kubernetes/issues/67250
test("what cannot change is as it was: selectors, the spool's claims, addresses of Services", () => {
  const storage = { accessModes: ["ReadWriteOncePod"], resources: { requests: { storage: "1Gi" } } };
  const fixed = {
    podManagementPolicy: "Parallel",
    selector: { matchLabels: labelsOf("spool") },
    serviceName: "culvert-spool-headless",
    volumeClaimTemplates: [{ metadata: { name: "queue" }, spec: storage }],
  };
  for (const [{ metadata, spec }, objects, at] of all("StatefulSet")) {
    const { replicas, template, persistentVolumeClaimRetentionPolicy, ...rest } = spec;
    expect([metadata.name, rest], at).toEqual(["culvert-spool", fixed]);
    expect(persistentVolumeClaimRetentionPolicy, at).toEqual({ whenDeleted: "Retain", whenScaled: "Retain" });
    expect(template.spec.topologySpreadConstraints[0], at).toMatchObject({ topologyKey: "kubernetes.io/hostname" });
    const web = at.startsWith("tunnel alone") ? [] : ["web", "web-all"];
    for (const name of ["spool-headless", ...web])
      expect(find(objects, "Service", name).spec.clusterIP, at).toBe("None");
  }
});

// Without matchLabelKeys a rollout could put all new pods on one node; without nodeTaintsPolicy pods of a lost node could not be replaced.
test("a rollout starts new pods first, except of what is in memory; pods are spread over two nodes", () => {
  for (const [deployment, objects, at] of all("Deployment")) {
    const { metadata, spec } = deployment;
    const isInMemory = /-(cache|ingest)$/.test(metadata.name);
    const strategy = isInMemory ? { type: "Recreate" } : { rollingUpdate: { maxUnavailable: 0 } };
    expect(spec.strategy, at).toMatchObject(strategy);
    const least = minReplicas(objects, deployment);
    if (least === 1) continue;
    const enforced = { whenUnsatisfiable: "DoNotSchedule", topologyKey: "kubernetes.io/hostname" };
    const counted = { nodeTaintsPolicy: "Honor", matchLabelKeys: ["pod-template-hash"] };
    const [spread] = spec.template.spec.topologySpreadConstraints;
    expect(spread, at).toMatchObject({ ...enforced, ...counted, labelSelector: spec.selector });
    expect(spread.maxSkew, at).toBeLessThan(least);
  }
});

test("no object contains a secret, and no pod beside the local ingest waits for one", () => {
  for (const [at, objects] of everything()) {
    expect(of(objects, "Secret")).toEqual([]);
    expect(JSON.stringify(objects)).not.toMatch(/-----BEGIN|:\/\/(?!culvert@culvert-ingest\.)[^/\s"]+@/);
    for (const { name, value = "", valueFrom } of pods(objects).flatMap(({ spec }) => spec.containers[0].env ?? [])) {
      if (/(DSNS?|KEY|TOKEN|PASSWORD|SECRET)$/.test(name))
        expect(value).toMatch(/^(http:\/\/culvert@culvert-ingest\..*)?$/);
      if (at === "local") expect(valueFrom?.secretKeyRef?.optional ?? true).toBe(true);
    }
  }
});

test("plain HTTP is redirected to the published port, and events have the release of web's image", () => {
  for (const name of ["local", "production"]) {
    const objects = rendering(name);
    const { nodePort, port } = find(objects, "Service", "proxy").spec.ports.find(({ name }: Part) => name === "https");
    expect(find(objects, "ConfigMap", "proxy").data?.HTTPS_PORT).toBe(`${nodePort ?? port}`);
    const { SENTRY_RELEASE, SENTRY_ENVIRONMENT } = find(objects, "ConfigMap", "web").data ?? {};
    expect(SENTRY_ENVIRONMENT).toBe(name);
    expect(podOf(objects, "web").containers[0].image).toMatch(`:${SENTRY_RELEASE}`);
  }
});

const production = rendering("production");

test("in a rollout, each release's Service selects its pods of both Deployments, and web its own alone", () => {
  const version = "app.kubernetes.io/version";
  const services = ["web", "web-all", "web-current", "web-previous"];
  const selecting = (name: string, tag: string) => {
    const labels = { ...find(production, "Deployment", name).spec.template.metadata.labels, [version]: tag };
    return services.filter((service) => matches(find(production, "Service", service).spec.selector, labels)).join(" ");
  };
  expect(selecting("web", "1.0.0")).toBe("web web-all web-current");
  expect(selecting("web", "0.9.0")).toBe("web web-all web-previous");
  expect([selecting("web-previous", "0.9.0"), selecting("web-previous", "0.8.0")]).toEqual(["web-previous", ""]);
});

const numberIn = (file: string, pattern: RegExp) =>
  Number(pattern.exec(readFileSync(`${root}${file}`, "utf8"))?.[1] ?? expect.unreachable(`${file}: ${pattern}`));

// As long as CoreDNS caches an answer, then a turn of the proxies, two turns once it answers, and an unanswered question.
test("a new pod of web is ready when all proxies know its release; the next one is replaced when the last is gone", () => {
  const { initContainers, containers, terminationGracePeriodSeconds } = podOf(production, "web");
  const [turn, question] = [/sleep (\d+)/, /-m (\d+)/].map((pattern) =>
    numberIn("proxy/entrypoint.d/watch-sets.sh", pattern),
  );
  const wait = Number(/setTimeout\(.*, (\d+)_000\)/.exec(initContainers.at(-1).command.at(-1))?.[1]);
  const { periodSeconds, successThreshold } = containers[0].readinessProbe;
  const asked = periodSeconds * (successThreshold - 1);
  expect(wait).toBeGreaterThanOrEqual(30 + Number(turn));
  expect(asked).toBeGreaterThan(2 * Number(turn) + Number(question));
  const { minReadySeconds } = find(production, "Deployment", "web").spec;
  expect(wait + asked + minReadySeconds).toBeGreaterThanOrEqual(terminationGracePeriodSeconds);
});

// CoreDNS caches answers for 30 s. A cloud's load balancer sends new connections until three health checks, 10 s apart, have failed.
test("a terminating pod serves until it gets no new requests, and then has time to finish", () => {
  const compose = numberIn("docker-compose.yml", /\n {2}web:\n(?: {4}.*\n)*? {4}stop_grace_period: (\d+)s/);
  const cached = numberIn("proxy/templates/resolver.conf", /valid=(\d+)s/);
  const rest = (name: string, least: number) => {
    const { containers, terminationGracePeriodSeconds } = podOf(production, name);
    const { seconds } = containers[0].lifecycle.preStop.sleep;
    expect(seconds).toBeGreaterThanOrEqual(least);
    expect(readme).toMatch(new RegExp(`terminating\\spod[^.]*\`${name}\`[^.]*\\sserving\\sfor\\s${seconds}\\ss,`));
    return terminationGracePeriodSeconds - seconds;
  };
  const promised = numberIn("docs/your-app.md", /within (\d+) s of SIGTERM/);
  expect([rest("web", 30 + cached), compose]).toEqual([promised, promised]);
  expect(rest("proxy", 30)).toBeGreaterThan(60);
});

test("a terminating spool accepts until nodes have stopped using it for its Service, and then has time to finish", () => {
  const { seconds } = podOf(production, "spool").containers[0].lifecycle.preStop.sleep;
  expect(seconds).toBeGreaterThanOrEqual(5);
  // Of the 30 s that Kubernetes gives by default.
  expect(30 - seconds).toBeGreaterThan(numberIn("proxy/spool/src/main.ts", /stopTimeoutMs = (\d+)_000/));
});
