import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import {
  controllers,
  find,
  matches,
  minReplicas,
  of,
  type Part,
  pods,
  type Resource,
  references,
} from "./lib/objects.ts";
import { kubernetes, root } from "./lib/paths.ts";
import { canRender, everything, render, rendering } from "./lib/render.ts";
import { schemaProblems } from "./lib/schema.ts";

const readme = readFileSync(`${kubernetes}/README.md`, "utf8");

/** API versions that are stable in Kubernetes 1.30 to 1.36, and those of add-ons; k6-operator has no stable one. */
const builtIn = ["v1", "apps/v1", "autoscaling/v2", "networking.k8s.io/v1", "policy/v1"];
const addOns = ["cert-manager.io/v1", "gateway.networking.k8s.io/v1", "monitoring.coreos.com/v1", "k6.io/v1alpha1"];

/**
 * Every object is valid. Every pod meets the restricted Pod Security Standard, and a service's root filesystem is read-only; k6 writes
 * to its own. https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
 */
async function expectAccepted(objects: Resource[]): Promise<void> {
  for (const object of objects)
    expect(await schemaProblems(object), `${object.kind} ${object.metadata.name}`).toEqual([]);
  for (const { metadata, spec } of pods(objects)) {
    const seccompProfile = { type: "RuntimeDefault" };
    expect(spec.securityContext, metadata.name).toMatchObject({ runAsNonRoot: true, seccompProfile });
    expect(spec.securityContext.runAsUser, metadata.name).toBeGreaterThan(0);
    expect(JSON.stringify(spec), metadata.name).not.toMatch(/"host(Network|PID|IPC|Port|Path)":/);
    for (const { name, securityContext } of [...(spec.initContainers ?? []), ...spec.containers])
      expect(securityContext, metadata.name).toEqual({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
        readOnlyRootFilesystem: name === "k6" ? undefined : true,
      });
  }
}

test("the load test's reader is accepted by a restricted namespace", async () => {
  const text = readFileSync(`${root}/loadtest/ci/kubernetes-reader.yaml`, "utf8");
  const objects = parseAllDocuments(text).map((document) => document.toJS());
  expect(objects).toHaveLength(5);
  await expectAccepted(objects);
});

test.skipIf(!canRender)("the Job of the checks is accepted by a restricted namespace", async () => {
  const objects = render(`${kubernetes}/verify`);
  expect(of(objects, "Job")).toHaveLength(1);
  await expectAccepted(objects);
});

describe.skipIf(!canRender)("in base, in base with each component, and in every overlay,", () => {
  /** The objects of a kind in all renderings, with all objects of their rendering, and a name for messages. */
  const all = (kind: string): [object: Resource, objects: Resource[], at: string][] =>
    [...everything()].flatMap(([name, objects]) =>
      of(objects, kind).map((one): [Resource, Resource[], string] => [one, objects, `${name}: ${one.metadata.name}`]),
    );

  test("every object is valid, in clusters from 1.30 to 1.36, and accepted by its namespace, which is restricted", async () => {
    for (const [{ metadata }] of all("Namespace"))
      expect(metadata.labels).toMatchObject({ "pod-security.kubernetes.io/enforce": "restricted" });
    for (const objects of everything().values()) {
      await expectAccepted(objects);
      for (const { apiVersion } of objects) expect([...builtIn, ...addOns]).toContain(apiVersion);
    }
  });

  test("no pod has a token; containers have requests, limits and a fixed image, and mount no subPath, which is never updated", () => {
    const both = { cpu: expect.anything(), memory: expect.anything() };
    for (const { metadata, spec } of [...everything().values()].flatMap(pods)) {
      expect(spec.automountServiceAccountToken, metadata.name).toBe(false);
      for (const { image, resources, volumeMounts } of [...(spec.initContainers ?? []), ...spec.containers]) {
        expect(resources, metadata.name).toEqual({ requests: both, limits: both });
        expect(image).toMatch(/:(?!latest$)[\w.-]+$/);
        expect(JSON.stringify(volumeMounts ?? [])).not.toContain("subPath");
      }
    }
  });

  test("a variable that uses `$(NAME)` has it above, because the order decides, and patches change it", () => {
    for (const { metadata, spec } of [...everything().values()].flatMap(pods)) {
      const env: Part[] = spec.containers[0].env ?? [];
      for (const [at, { value = "" }] of env.entries())
        for (const [, name] of value.matchAll(/\$\((\w+)\)/g))
          expect(env.slice(0, at), metadata.name).toContainEqual(expect.objectContaining({ name }));
    }
  });

  test("services have all probes, at named ports, which start no process", () => {
    for (const { metadata, spec } of [...everything().values()].flatMap(controllers)) {
      const [{ ports, startupProbe, readinessProbe, livenessProbe }] = spec.template.spec.containers;
      const names = ports.map(({ name }: { name: string }) => name);
      for (const probe of [startupProbe, readinessProbe, livenessProbe])
        expect(names, metadata.name).toContain((probe?.httpGet ?? probe?.tcpSocket)?.port);
    }
  });

  test("controllers and pods have the labels by which Services, checks and the README's restart select them", () => {
    expect(readme).toContain("rollout restart deployment,statefulset -l app.kubernetes.io/part-of=culvert");
    for (const { metadata, spec } of [...everything().values()].flatMap(controllers)) {
      const labels = { "app.kubernetes.io/name": metadata.name, "app.kubernetes.io/part-of": "culvert" };
      expect([metadata, spec.template.metadata]).toMatchObject([{ labels }, { labels }]);
    }
  });

  test("Services select a pod, and open a port that it names; only the proxy's translates ports", () => {
    for (const [{ metadata, spec }, objects, at] of all("Service")) {
      const selected = controllers(objects).filter((one) => matches(spec.selector, one.spec.template.metadata.labels));
      const open = selected.flatMap((one) => one.spec.template.spec.containers[0].ports);
      expect(open.length, at).toBeGreaterThan(0);
      for (const { name, port, targetPort } of spec.ports) {
        const target = open.find((one) => one.name === targetPort);
        expect([name, target?.containerPort], at).toEqual([
          expect.any(String),
          metadata.name === "proxy" ? expect.any(Number) : port,
        ]);
      }
    }
  });

  test("ConfigMaps, Secrets and keys that pods reference are rendered, or in the README's table", () => {
    const rows = [...readme.matchAll(/^\| (Secret|ConfigMap) `([\w.-]+)` \| ([^|]+)\|/gm)];
    const documented = new Map(rows.map(([, kind, name, keys]) => [`${kind} ${name}`, keys ?? ""]));
    for (const [at, objects] of everything()) {
      const rendered = of(objects, "ConfigMap").map(({ metadata }) => `ConfigMap ${metadata.name}`);
      for (const { kind, name, key = "" } of references(objects)) {
        if (rendered.includes(`${kind} ${name}`)) continue;
        expect(documented.get(`${kind} ${name}`), `${at}: ${kind} ${name}`).toContain(key && `\`${key}\``);
      }
    }
    const text = JSON.stringify([...everything().values()]);
    for (const [, key = ""] of [...documented.values()].join().matchAll(/`([^`]+)`/g))
      expect(text, key).toMatch(new RegExp(`["/]${key}"`));
  });

  test("an autoscaler alone sets the number of pods", () => {
    for (const [{ spec }, objects, at] of all("HorizontalPodAutoscaler"))
      expect(find(objects, "Deployment", spec.scaleTargetRef.name).spec.replicas, at).toBeUndefined();
  });

  test("a drain may evict one pod of a kind", () => {
    for (const [{ metadata, spec }, , at] of all("PodDisruptionBudget")) {
      const selector = { matchLabels: { "app.kubernetes.io/name": metadata.name } };
      expect(spec, at).toEqual({ maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow", selector });
    }
  });

  // With OrderedReady, a pod that cannot start is not replaced when its template is fixed: https://github.com/kubernetes/kubernetes/issues/67250
  // The API server rejects a change of these fields, and of a Service's clusterIP.
  test("an upgrade to several replicas of the spool is accepted, and keeps the first one's queue; nothing deletes a queue", () => {
    const storage = { accessModes: ["ReadWriteOncePod"], resources: { requests: { storage: "1Gi" } } };
    const fixed = {
      podManagementPolicy: "Parallel",
      selector: { matchLabels: { "app.kubernetes.io/name": "spool" } },
      serviceName: "spool",
      volumeClaimTemplates: [{ metadata: { name: "queue" }, spec: storage }],
    };
    for (const [{ metadata, spec }, objects, at] of all("StatefulSet")) {
      const { replicas, template, persistentVolumeClaimRetentionPolicy, ...rest } = spec;
      expect([metadata.name, rest], at).toEqual(["spool", fixed]);
      expect(persistentVolumeClaimRetentionPolicy, at).toEqual({ whenDeleted: "Retain", whenScaled: "Retain" });
      expect(template.spec.topologySpreadConstraints[0], at).toMatchObject({ topologyKey: "kubernetes.io/hostname" });
      const services = of(objects, "Service").filter(({ metadata }) => metadata.name.startsWith("spool"));
      const addresses = services.map(({ metadata, spec }) => [metadata.name, spec.clusterIP]);
      expect(Object.fromEntries(addresses), at).toEqual({ spool: undefined, "spool-headless": "None" });
    }
    expect(find(rendering("production"), "StatefulSet", "spool").spec.replicas).toBe(2);
  });

  test("a rollout starts new pods first, except for what keeps its content in memory", () => {
    for (const [{ metadata, spec }, , at] of all("Deployment"))
      expect(spec.strategy, at).toMatchObject(
        /^(cache|ingest)$/.test(metadata.name) ? { type: "Recreate" } : { rollingUpdate: { maxUnavailable: 0 } },
      );
  });

  // Without matchLabelKeys a rollout could put all new pods on one node; without nodeTaintsPolicy pods of a lost node could not be replaced.
  test("several pods are never all on one of two nodes", () => {
    for (const [{ metadata, spec }, objects, at] of all("Deployment")) {
      const least = minReplicas(objects, metadata.name);
      if (least === 1) continue;
      const enforced = { whenUnsatisfiable: "DoNotSchedule", topologyKey: "kubernetes.io/hostname" };
      const counted = { nodeTaintsPolicy: "Honor", matchLabelKeys: ["pod-template-hash"] };
      const labelSelector = { matchLabels: { "app.kubernetes.io/name": metadata.name } };
      const [spread] = spec.template.spec.topologySpreadConstraints;
      expect(spread, at).toMatchObject({ ...enforced, ...counted, labelSelector });
      expect(spread.maxSkew, at).toBeLessThan(least);
    }
  });

  test("every field is as the API server stores it, so that `kubectl diff` and Argo CD see no difference", () => {
    const stored = [...everything().values()].flat().filter(({ apiVersion }) => builtIn.includes(apiVersion));
    for (const { data, ...object } of stored)
      JSON.stringify(object, (key, value) => {
        const isDropped = value === null || value === "" || (Array.isArray(value) && value.length === 0);
        const isRewritten = /^(\d+000m|(1024|2048|4096)[KM]i)$/.test(String(value));
        if (isDropped || isRewritten) expect.unreachable(`${object.kind} ${object.metadata.name}: ${key}: ${value}`);
        return value;
      });
  });

  test("no manifest contains a secret; the local ingest's DSN is none", () => {
    for (const objects of everything().values()) {
      expect(of(objects, "Secret")).toEqual([]);
      expect(JSON.stringify(objects)).not.toMatch(/-----BEGIN|:\/\/(?!culvert@ingest\.)[^/\s"]+@/);
      for (const { name, value } of pods(objects).flatMap(({ spec }) => spec.containers[0].env ?? []))
        if (/(DSNS?|KEY|TOKEN|PASSWORD|SECRET)$/.test(name))
          expect(value ?? "").toMatch(/^$|^http:\/\/culvert@ingest\./);
    }
  });
});
