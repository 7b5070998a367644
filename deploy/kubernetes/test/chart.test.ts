import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { chart, hasHelm, helm, template } from "./lib/chart.ts";
import { containers, type Resource } from "./lib/objects.ts";
import { folders, kubernetes } from "./lib/paths.ts";
import { canRender, rendering, renderWith } from "./lib/render.ts";

interface Overlay {
  namespace: string;
  components: string[];
  images?: { name: string; newName: string; newTag: string }[];
  replicas?: { name: string; count: number }[];
  configMapGenerator: { literals: string[] }[];
}

/** A switch for every component, true for the listed ones. */
const switches = (on: string[]) => Object.fromEntries(folders("components").map((name) => [name, on.includes(name)]));

/** The chart's values that correspond to an overlay. */
function valuesOf({ components, images = [], replicas = [], configMapGenerator }: Overlay) {
  return {
    components: switches(components.map((path) => path.split("/").at(-1) ?? "")),
    images: Object.fromEntries(images.map(({ name, newName, newTag }) => [name, `${newName}:${newTag}`])),
    replicas: Object.fromEntries(replicas.map(({ name, count }) => [name, count])),
    settings: Object.fromEntries(
      configMapGenerator.flatMap(({ literals }) => literals.map((literal) => literal.split("=", 2))),
    ),
  };
}

/** The base's value, which differs from the chart's default. */
const settings = { HTTPS_PORT: "" };

/** Objects by kind and name, without the Namespace, which Helm creates. */
const byName = (objects: Resource[]) =>
  Object.fromEntries(
    objects
      .filter(({ kind }) => kind !== "Namespace")
      .map((object) => [`${object.kind} ${object.metadata.name}`, object]),
  );

describe.skipIf(!canRender || !hasHelm)("the chart equals kustomize, object by object:", () => {
  test.each(folders("overlays"))("overlay %s", (name) => {
    const overlay: Overlay = parse(readFileSync(`${kubernetes}/overlays/${name}/kustomization.yaml`, "utf8"));
    expect(byName(template(valuesOf(overlay), overlay.namespace))).toEqual(byName(rendering(name)));
  });

  test.each(folders("components"))("base with %s", (name) => {
    const expected = renderWith([name], "", ["release"]);
    expect(byName(template({ components: switches([name]), settings }))).toEqual(byName(expected));
  });

  test("all components, whose order matters for variables that reference others", () => {
    const rest = folders("components").filter((name) => name !== "spool" && name !== "tls");
    const all = ["spool", ...rest];
    const objects = template({ components: switches(all), settings });
    expect(byName(objects)).toEqual(byName(renderWith(all, "", ["release"])));
    expect(containers(objects).length).toBeGreaterThan(8);
  });
});

describe.skipIf(!hasHelm)("the chart's values", () => {
  const schema = JSON.parse(readFileSync(`${chart}/values.schema.json`, "utf8"));

  test("have a switch for every component", () => {
    const { components } = parse(readFileSync(`${chart}/values.yaml`, "utf8"));
    expect(Object.keys(components)).toEqual(folders("components"));
    expect(Object.keys(schema.properties.components.properties)).toEqual(folders("components"));
  });

  test("publish the port to which plain HTTP is redirected", () => {
    const of = (kind: string, name: string) =>
      template({}).find((one) => one.kind === kind && one.metadata.name.startsWith(name));
    expect(of("ConfigMap", "proxy-settings")).toMatchObject({ data: { HTTPS_PORT: "443" } });
    expect(of("Service", "proxy")).toMatchObject({
      spec: { ports: expect.arrayContaining([expect.objectContaining({ port: 443 })]) },
    });
  });

  test.each([
    ["an unknown component", { components: { spol: true } }, /spol/],
    ["a switch that is no boolean", { components: { spool: "yes" } }, /spool/],
    ["a setting that is no string", { settings: { HTTPS_PORT: 443 } }, /HTTPS_PORT/],
    ["an unknown setting", { settings: { SERVERNAME: "x" } }, /SERVERNAME/],
    ["a secret among the settings", { settings: { SENTRY_DSN: "https://k@o1.ingest.sentry.io/2" } }, /SENTRY_DSN/],
    ["an image without a tag", { images: { "culvert-web": "registry.example.com/shop" } }, /culvert-web/],
    ["replicas together with autoscaling", { components: { autoscaling: true }, replicas: { web: 3 } }, /replicas/],
  ])("are rejected by name: %s", (_, values, message) => {
    expect(() => template(values)).toThrow(message);
  });
});

test.skipIf(!hasHelm)("the notes list what the selected components need", () => {
  const notes = (on: string[]) =>
    helm(["install", "culvert", chart, "--dry-run=client", "--values=-"], JSON.stringify({ components: switches(on) }));
  expect(notes(["tls"])).toMatch(/create secret tls proxy-tls/);
  expect(notes(["cert-manager", "tls"])).not.toMatch(/create secret tls/);
  expect(notes(["shared-cache", "ingest-ca"])).toMatch(/shared-cache.*ingest-ca/s);
  expect(notes(["node-port"])).toMatch(/HTTPS_PORT to "30443"/);
  expect(notes(["load-balancer"])).not.toMatch(/30443/);
});
