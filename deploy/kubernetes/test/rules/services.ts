import { containers, matches, of, workloads } from "../lib/objects.ts";
import type { Rule } from "./rule.ts";

/** Every Service selects rendered pods and uses named ports. */
export const servicesReachPods: Rule = (objects) =>
  of(objects, "Service").flatMap(({ metadata, spec }) => {
    const pods = workloads(objects).filter(({ labels }) => spec?.selector && matches(spec.selector, labels));
    if (pods.length === 0) return [`service ${metadata.name} selects no pod`];
    const open = pods.flatMap(({ pod }) => pod.containers.flatMap((container) => container.ports ?? []));
    return (spec?.ports ?? []).flatMap((port) => {
      const at = `service ${metadata.name}:${port.port}`;
      const target = open.find(({ name }) => name === port.targetPort);
      if (!port.name) return [`${at} has no name`];
      if (!target) return [`${at}: no pod names a port ${port.targetPort}`];
      // A headless Service does not translate ports.
      const direct = spec?.clusterIP === "None" && target.containerPort !== port.port;
      return direct ? [`${at} is headless, but the pods listen on ${target.containerPort}`] : [];
    });
  });

/** Every cluster address in a container's variables names a rendered Service and port. */
export const addressesNameServices: Rule = (objects) =>
  containers(objects).flatMap(({ at, container }) =>
    (container.env ?? []).flatMap(({ name, value }) =>
      [...(value ?? "").matchAll(/([\w-]+)\.\$\(POD_NAMESPACE\)\.svc\.cluster\.local:(\d+)/g)]
        .filter(([, service, port]) => !hasPort(objects, service as string, Number(port)))
        .map(([, service, port]) => `${at}: ${name} names ${service}:${port}, which does not exist`),
    ),
  );

function hasPort(objects: Parameters<Rule>[0], service: string, port: number): boolean {
  const found = of(objects, "Service").find(({ metadata }) => metadata.name === service);
  return found?.spec?.ports?.some((candidate) => candidate.port === port) ?? false;
}
