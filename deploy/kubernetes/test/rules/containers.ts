import { containers, workloads } from "../lib/objects.ts";
import { bytes } from "../lib/quantity.ts";
import type { Rule } from "./rule.ts";

/** The scheduler knows what each container needs, and none can take a node down. */
export const requestsAndLimits: Rule = (objects) =>
  containers(objects).flatMap(({ at, container }) =>
    (["requests", "limits"] as const).flatMap((kind) =>
      (["cpu", "memory"] as const)
        .filter((resource) => !container.resources?.[kind]?.[resource])
        .map((resource) => `${at}: no ${kind} of ${resource}`),
    ),
  );

/** A rollout waits for ready pods, a stuck one is restarted, and a slow start is not taken for a stuck one. What ends before they start has none. */
export const probes: Rule = (objects) =>
  containers(objects)
    .filter(
      ({ workload, container }) => workload.kind === "service" && !workload.pod.initContainers?.includes(container),
    )
    .flatMap(({ at, container }) =>
      (["startupProbe", "readinessProbe", "livenessProbe"] as const).flatMap((kind) => {
        const port = (container[kind]?.httpGet ?? container[kind]?.tcpSocket)?.port;
        if (!container[kind]) return [`${at}: no ${kind}`];
        if (container[kind].exec) return [];
        const named = container.ports?.some(({ name }) => name === port);
        return named ? [] : [`${at}: ${kind} asks port ${port}, which the container does not name`];
      }),
    );

/**
 * A tag that stands for one build. `latest` is another one tomorrow, and can't be rolled back to; it is what k6-operator takes for a
 * pod of a TestRun without an image: https://github.com/grafana/k6-operator/blob/v1.6.0/pkg/resources/jobs/starter.go
 */
export const imagesArePinned: Rule = (objects) =>
  containers(objects)
    .filter(({ container }) => !/(:(?!latest(@|$))[\w.-]+|@sha256:[0-9a-f]{64})$/.test(container.image ?? ""))
    .map(({ at, container }) => `${at}: ${container.image ?? "no image"} names no single build`);

/** `$(NAME)` is replaced only where NAME stands higher up in the same list; elsewhere it stays as it is. */
export const variablesAreDefinedBeforeUse: Rule = (objects) =>
  containers(objects).flatMap(({ at, container }) =>
    (container.env ?? []).flatMap(({ name, value }, i, list) =>
      [...(value ?? "").matchAll(/\$\((\w+)\)/g)]
        .filter(([, used]) => !list.slice(0, i).some((earlier) => earlier.name === used))
        .map(([, used]) => `${at}: ${name} uses ${used} before it is defined`),
    ),
  );

/** Every mount has its volume, and every volume in memory has a bound that leaves the container room. */
export const volumesFit: Rule = (objects) =>
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

/** A file mounted by subPath never changes again: a renewed certificate would not arrive. */
export const filesStayFresh: Rule = (objects) =>
  containers(objects).flatMap(({ at, container }) =>
    (container.volumeMounts ?? [])
      .filter(({ subPath, subPathExpr }) => subPath || subPathExpr)
      .map(({ mountPath }) => `${at}: ${mountPath} is mounted by subPath`),
  );
