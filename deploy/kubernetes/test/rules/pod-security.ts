import type { IPodSpec } from "kubernetes-models/v1/PodSpec";
import { containers, type Resource, workloads } from "../lib/objects.ts";
import type { Rule } from "./rule.ts";

/** The volume types that the restricted standard allows. */
const volumeTypes = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "image",
  "persistentVolumeClaim",
  "projected",
  "secret",
];

/**
 * The restricted Pod Security Standard, for every pod template: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
 */
export const restrictedPodSecurity: Rule = (objects) => [
  ...workloads(objects).flatMap(({ name, pod }) => podProblems(pod).map((problem) => `${name}: ${problem}`)),
  ...containers(objects).flatMap(({ at, workload, container }) => {
    const own = container.securityContext ?? {};
    const shared = workload.pod.securityContext ?? {};
    const seccomp = (own.seccompProfile ?? shared.seccompProfile)?.type ?? "";
    return [
      own.privileged && "is privileged",
      own.allowPrivilegeEscalation !== false && "allows privilege escalation",
      (own.runAsNonRoot ?? shared.runAsNonRoot) !== true && "may run as root",
      (own.runAsUser ?? shared.runAsUser) === 0 && "runs as uid 0",
      !["RuntimeDefault", "Localhost"].includes(seccomp) && "has no seccomp profile",
      !own.capabilities?.drop?.includes("ALL") && "keeps capabilities",
      own.capabilities?.add?.some((name) => name !== "NET_BIND_SERVICE") && "adds capabilities",
      (own.procMount ?? "Default") !== "Default" && "unmasks /proc",
      container.ports?.some((port) => port.hostPort) && "takes a port of the node",
    ].flatMap((problem) => (problem ? [`${at}: ${problem}`] : []));
  }),
];

function podProblems(pod: IPodSpec): string[] {
  const shared = (["hostNetwork", "hostPID", "hostIPC"] as const).filter((name) => pod[name]);
  const volumes = (pod.volumes ?? []).flatMap(({ name, ...source }) =>
    Object.keys(source).every((type) => volumeTypes.includes(type)) ? [] : [`volume ${name} has a forbidden type`],
  );
  const sysctls = (pod.securityContext?.sysctls ?? [])
    .filter(({ name }) => !name.startsWith("net.ipv4.tcp_keepalive_"))
    .map(({ name }) => `sets ${name}`);
  return [...shared.map((name) => `shares the node: ${name}`), ...volumes, ...sysctls];
}

/** The namespace enforces that standard for every pod. */
export const namespaceEnforcesRestricted: Rule = (objects) =>
  objects
    .filter(({ kind, metadata }) => kind === "Namespace" && level(metadata.labels) !== "restricted")
    .map(({ metadata }) => `namespace ${metadata.name} does not enforce the restricted standard`);

const level = (labels: Resource["metadata"]["labels"]) => labels?.["pod-security.kubernetes.io/enforce"];

/** The root filesystem of every service is read-only. Jobs of other controllers may write. */
export const rootFilesystemsAreReadOnly: Rule = (objects) =>
  containers(objects)
    .filter(
      ({ workload, container }) => workload.kind === "service" && !container.securityContext?.readOnlyRootFilesystem,
    )
    .map(({ at }) => `${at}: its root filesystem is writable`);

/** No pod has a token for the Kubernetes API, because none uses it. */
export const noServiceAccountTokens: Rule = (objects) =>
  workloads(objects)
    .filter(({ pod }) => pod.automountServiceAccountToken !== false)
    .map(({ name }) => `${name}: gets a service account's token`);
