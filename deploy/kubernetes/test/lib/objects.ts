import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";

/** A part of an object, read as the API documents it. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export type Part = any;

export interface Resource {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: object };
  data?: Record<string, string>;
  spec?: Part;
  status?: Part;
}

/** A name without the prefix of a release `culvert`. */
export const unprefixed = (name: string): string => name.replace(/^culvert-/, "");

/** The labels by which Services and policies select the pods of a release. */
export const labelsOf = (name: string, instance = "culvert"): Record<string, string> => ({
  "app.kubernetes.io/instance": instance,
  "app.kubernetes.io/name": name,
  "app.kubernetes.io/part-of": "culvert",
});

export const of = (objects: Resource[], kind: string): Resource[] => objects.filter((object) => object.kind === kind);

export function find(objects: Resource[], kind: string, name: string): Resource {
  const found = of(objects, kind).find(({ metadata }) => unprefixed(metadata.name) === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

export const controllers = (objects: Resource[]): Resource[] =>
  objects.filter(({ kind }) => /^(Deployment|StatefulSet)$/.test(kind));

export const podOf = (objects: Resource[], name: string): Part => templateOf(objects, name).spec;

export const podLabels = (objects: Resource[], name: string): Record<string, string> =>
  templateOf(objects, name).metadata.labels;

function templateOf(objects: Resource[], name: string): Part {
  const isNamed = ({ metadata }: Resource) => unprefixed(metadata.name) === name;
  const found = controllers(objects).find(isNamed)?.spec.template ?? of(objects, "Pod").find(isNamed);
  if (!found) throw new Error(`there is no workload ${name}`);
  return found;
}

export function matches(wanted: Record<string, string> | undefined, labels: Record<string, string> = {}): boolean {
  return Object.entries(wanted ?? {}).every(([key, value]) => labels[key] === value);
}

export function bytes(quantity: string): number {
  const [, number = "", unit = ""] = /^(\d+)([KMG])i$/.exec(quantity) ?? expect.unreachable(`${quantity}: no bytes`);
  return Number(number) * 1024 ** (1 + "KMG".indexOf(unit));
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "culvert-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}
