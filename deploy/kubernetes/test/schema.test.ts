import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Resource } from "./lib/objects.ts";
import { kubernetes } from "./lib/paths.ts";
import { canRender, everything, render } from "./lib/render.ts";
import { schemaProblems } from "./lib/schema.ts";
import { restrictedPodSecurity } from "./rules/pod-security.ts";

/** API versions that are stable in Kubernetes 1.30 to 1.36, and the add-ons' stable ones. */
const stable = [
  "v1",
  "apps/v1",
  "autoscaling/v2",
  "networking.k8s.io/v1",
  "policy/v1",
  "cert-manager.io/v1",
  "gateway.networking.k8s.io/v1",
  "monitoring.coreos.com/v1",
  // k6-operator has no stable one.
  "k6.io/v1alpha1",
];

describe.skipIf(!canRender)("base, base with each component, every overlay", () => {
  let all: [string, Resource[]][];
  beforeAll(() => {
    all = everything();
  });

  test("every object is valid by the schema of its kind and API version", async () => {
    for (const [name, objects] of all) {
      for (const object of objects) {
        expect(await schemaProblems(object), `${name}: ${object.kind} ${object.metadata.name}`).toEqual([]);
      }
    }
  });

  test("the Job of the checks is valid, and allowed in the namespace", async () => {
    const objects = render(join(kubernetes, "verify"));
    expect(objects.map(({ kind }) => kind)).toContain("Job");
    expect((await Promise.all(objects.map(schemaProblems))).flat()).toEqual([]);
    expect(restrictedPodSecurity(objects)).toEqual([]);
  });

  test("all API versions are stable in clusters from 1.30 to 1.36", () => {
    const used = all.flatMap(([, objects]) => objects.map((object) => object.apiVersion));
    expect(used.filter((version) => !stable.includes(version))).toEqual([]);
  });
});

test("the load test's reader is valid, and allowed in the namespace", async () => {
  const text = readFileSync(new URL("../../../loadtest/ci/kubernetes-reader.yaml", import.meta.url), "utf8");
  const objects = parseAllDocuments(text).map((document) => document.toJS() as Resource);
  expect(objects.map(({ kind }) => kind)).toEqual([
    "Deployment",
    "Service",
    "NetworkPolicy",
    "NetworkPolicy",
    "NetworkPolicy",
  ]);
  expect((await Promise.all(objects.map(schemaProblems))).flat()).toEqual([]);
  expect(restrictedPodSecurity(objects)).toEqual([]);
});

test("a wrong type, a missing field, an unknown field and an unknown kind are found", async () => {
  const service = { apiVersion: "v1", kind: "Service", metadata: { name: "x" } };
  expect(await schemaProblems({ ...service, spec: { ports: [{ port: "443" }] } } as Resource)).toHaveLength(1);
  expect(await schemaProblems({ ...service, spec: { ports: [{ name: "https" }] } } as Resource)).toHaveLength(1);
  expect(await schemaProblems({ ...service, spec: { selektor: {} } } as Resource)).toEqual([
    "/spec/selektor: the schema has no such field",
  ]);
  expect(await schemaProblems({ ...service, kind: "Servise" })).toEqual(["v1 has no Servise"]);
});
