import { containers, of, type Resource, workloads } from "../lib/objects.ts";
import type { Rule } from "./rule.ts";

/** A ConfigMap or Secret that a pod references. */
interface Reference {
  at: string;
  kind: "ConfigMap" | "Secret";
  name: string;
  /** Absent if the whole object is referenced. */
  key?: string;
}

/** The README's table of objects that users create: "Secret sentry" → its keys. */
export function documented(readme: string): Map<string, string[]> {
  const rows = [...readme.matchAll(/^\| (Secret|ConfigMap) `([\w.-]+)` \| ([^|]+)\|/gm)];
  return new Map(
    rows.map(([, kind, name, keys]) => [
      `${kind} ${name}`,
      [...(keys ?? "").matchAll(/`([^`]+)`/g)].map((key) => key[1] ?? ""),
    ]),
  );
}

/** Every referenced ConfigMap, Secret and key is rendered, or documented in the README. */
export const referencesExist =
  (documentedKeys: Map<string, string[]>): Rule =>
  (objects) =>
    references(objects).flatMap(({ at, kind, name, key }) => {
      const rendered = of(objects, kind).find(({ metadata }) => metadata.name === name);
      const keys = rendered ? Object.keys(rendered.data ?? {}) : documentedKeys.get(`${kind} ${name}`);
      if (!keys) return [`${at}: ${kind} ${name} is neither rendered nor in the README`];
      return key === undefined || keys.includes(key) ? [] : [`${at}: ${kind} ${name} has no key ${key}`];
    });

/** All ConfigMaps and Secrets that pods reference. */
export function references(objects: Resource[]): Reference[] {
  const scripts = of(objects, "TestRun").map(({ metadata, spec: { script } }): Reference => {
    return { at: metadata.name, kind: "ConfigMap", name: script.configMap.name, key: script.configMap.file };
  });
  return [...containers(objects).flatMap(variables), ...workloads(objects).flatMap(files), ...scripts];
}

function variables({ at, container }: ReturnType<typeof containers>[number]): Reference[] {
  const whole = (container.envFrom ?? []).flatMap(({ configMapRef, secretRef }): Reference[] => [
    ...(configMapRef ? [{ at, kind: "ConfigMap" as const, name: configMapRef.name ?? "" }] : []),
    ...(secretRef ? [{ at, kind: "Secret" as const, name: secretRef.name ?? "" }] : []),
  ]);
  const single = (container.env ?? []).flatMap(({ valueFrom }): Reference[] => {
    const { configMapKeyRef: map, secretKeyRef: secret } = valueFrom ?? {};
    return [
      ...(map ? [{ at, kind: "ConfigMap" as const, name: map.name ?? "", key: map.key }] : []),
      ...(secret ? [{ at, kind: "Secret" as const, name: secret.name ?? "", key: secret.key }] : []),
    ];
  });
  return [...whole, ...single];
}

/** Mounted objects, with the keys whose paths are in environment variables. */
function files({ name: at, pod }: ReturnType<typeof workloads>[number]): Reference[] {
  return (pod.volumes ?? []).flatMap((volume): Reference[] => {
    const kind = volume.secret ? "Secret" : "ConfigMap";
    const name = volume.secret?.secretName ?? volume.configMap?.name;
    if (!name) return [];
    const paths = pod.containers.flatMap((container) => {
      const mounts = (container.volumeMounts ?? []).filter((mount) => mount.name === volume.name);
      const values = (container.env ?? []).map(({ value }) => value ?? "");
      return mounts.flatMap(({ mountPath }) =>
        values.filter((value) => value.startsWith(`${mountPath}/`)).map((value) => value.slice(mountPath.length + 1)),
      );
    });
    return [{ at, kind, name }, ...paths.map((key): Reference => ({ at, kind, name, key }))];
  });
}
