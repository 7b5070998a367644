import { containers, workloads } from "../lib/objects.ts";
import { bytes } from "../lib/quantity.ts";
import type { Rule } from "./rule.ts";

/** Every container has requests and limits of CPU and memory. */
export const requestsAndLimits: Rule = (objects) =>
  containers(objects).flatMap(({ at, container }) =>
    (["requests", "limits"] as const).flatMap((kind) =>
      (["cpu", "memory"] as const)
        .filter((resource) => !container.resources?.[kind]?.[resource])
        .map((resource) => `${at}: no ${kind} of ${resource}`),
    ),
  );

/** Every container of a service has a startup, a readiness and a liveness probe, which start no process; init containers have none. */
export const probes: Rule = (objects) =>
  containers(objects)
    .filter(
      ({ workload, container }) => workload.kind === "service" && !workload.pod.initContainers?.includes(container),
    )
    .flatMap(({ at, container }) =>
      (["startupProbe", "readinessProbe", "livenessProbe"] as const).flatMap((kind) => {
        const port = (container[kind]?.httpGet ?? container[kind]?.tcpSocket)?.port;
        if (!container[kind]) return [`${at}: no ${kind}`];
        const named = container.ports?.some(({ name }) => name === port);
        return named ? [] : [`${at}: ${kind} uses port ${port}, which the container does not name`];
      }),
    );

/**
 * Every image has a fixed tag or digest. `latest` changes and cannot be rolled back to; k6-operator uses it for pods of a TestRun
 * without an image: https://github.com/grafana/k6-operator/blob/v1.6.0/pkg/resources/jobs/starter.go
 */
export const imagesArePinned: Rule = (objects) =>
  containers(objects)
    .filter(({ container }) => !/(:(?!latest(@|$))[\w.-]+|@sha256:[0-9a-f]{64})$/.test(container.image ?? ""))
    .map(({ at, container }) => `${at}: ${container.image ?? "no image"} has no fixed tag`);

/** `$(NAME)` is replaced only if NAME is defined earlier in the same list. */
export const variablesAreDefinedBeforeUse: Rule = (objects) =>
  containers(objects).flatMap(({ at, container }) =>
    (container.env ?? []).flatMap(({ name, value }, i, list) =>
      [...(value ?? "").matchAll(/\$\((\w+)\)/g)]
        .filter(([, used]) => !list.slice(0, i).some((earlier) => earlier.name === used))
        .map(([, used]) => `${at}: ${name} uses ${used} before it is defined`),
    ),
  );

/** Every mount has a volume, and volumes in memory are limited to half of the container's memory limit. */
export const volumesAreBounded: Rule = (objects) =>
  workloads(objects).flatMap(({ name, pod }) => {
    const volumes = pod.volumes ?? [];
    return [...(pod.initContainers ?? []), ...pod.containers].flatMap((container) => {
      const mounted = (container.volumeMounts ?? []).map((mount) => ({
        mount,
        volume: volumes.find((volume) => volume.name === mount.name),
      }));
      const missing = mounted.filter(({ volume }) => !volume).map(({ mount }) => `${name}: no volume ${mount.name}`);
      const memory = mounted.flatMap(({ volume }) => (volume?.emptyDir?.medium === "Memory" ? [volume.emptyDir] : []));
      const total = memory.reduce((sum, dir) => sum + (dir.sizeLimit ? bytes(dir.sizeLimit) : Infinity), 0);
      const limit = bytes(container.resources?.limits?.memory ?? "0");
      return total > 0 && total * 2 > limit
        ? [...missing, `${name}: files in memory may take over half of its limit`]
        : missing;
    });
  });

/** A file mounted by subPath is never updated: a renewed certificate would not arrive. */
export const noSubPathMounts: Rule = (objects) =>
  containers(objects).flatMap(({ at, container }) =>
    (container.volumeMounts ?? [])
      .filter(({ subPath, subPathExpr }) => subPath || subPathExpr)
      .map(({ mountPath }) => `${at}: ${mountPath} is mounted by subPath`),
  );
