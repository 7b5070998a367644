import type { IContainer } from "kubernetes-models/v1/Container";
import type { IVolumeMount } from "kubernetes-models/v1/VolumeMount";
import { label } from "../../../test/support/docker.ts";
import { built, docker } from "./docker.ts";
import { controllers, matches, of, type Resource, workloads } from "./objects.ts";
import { bytes } from "./quantity.ts";

/** A node simulated by Docker: its network, Secrets, volumes and images. */
export interface Node {
  network: string;
  /** Secret → key → value. */
  secrets: Record<string, Record<string, string>>;
  /** Volumes with the content of Secrets in kubelet's layout, by the Secret's name. */
  volumes: Record<string, string>;
  /** Images that replace those of the manifests, by the manifest's name. */
  images?: Record<string, string>;
  /** Further volumes, to be removed at the end. */
  scratch: string[];
}

/** Timeout in ms of a test that waits until several pods are ready: longer than all of its waits. */
export const startTimeout = 600_000;

/**
 * Starts a rendered pod in Docker as kubelet would: environment, user, groups, capabilities, read-only root, limits and volumes come
 * from the manifest alone. Returns the container's id.
 */
export function startPod(objects: Resource[], name: string, node: Node): string {
  const workload = workloads(objects).find((candidate) => candidate.name === name);
  const container = workload?.pod.containers[0];
  if (!workload || !container) throw new Error(`there is no pod ${name}`);
  const { securityContext: shared = {} } = workload.pod;
  const namespace = controllers(objects).find(({ metadata }) => metadata.name === name)?.metadata.namespace ?? "";

  const environment = Object.entries(variables(objects, name, namespace, node)).map(
    ([key, value]) => `--env=${key}=${value}`,
  );
  const folders = new Map<string, string>();
  const mount = ({ name: volume, mountPath, readOnly }: IVolumeMount): string => {
    const source = workload.pod.volumes?.find((candidate) => candidate.name === volume);
    const only = readOnly ? ":ro" : "";
    const secret = source?.secret?.secretName;
    if (secret) return `--volume=${node.volumes[secret]}:${mountPath}${only}`;
    const size = source?.emptyDir?.sizeLimit;
    if (source?.emptyDir?.medium === "Memory") return `--tmpfs=${mountPath}:size=${String(size).replace("Mi", "m")}`;
    const folder = folders.get(volume) ?? folderFor(shared.fsGroup ?? 0, node);
    folders.set(volume, folder);
    return `--volume=${folder}:${mountPath}:nocopy${readOnly ? ",ro" : ""}`;
  };
  const run = (
    { image = "", command = [], args = [], resources, securityContext, volumeMounts }: IContainer,
    ...options: string[]
  ) =>
    docker(
      "run",
      ...options,
      label,
      `--user=${shared.runAsUser}:${shared.runAsGroup}`,
      ...(shared.fsGroup === undefined ? [] : [`--group-add=${shared.fsGroup}`]),
      ...(securityContext?.readOnlyRootFilesystem ? ["--read-only"] : []),
      ...(securityContext?.capabilities?.drop ?? []).map((capability) => `--cap-drop=${capability}`),
      ...(securityContext?.allowPrivilegeEscalation === false ? ["--security-opt=no-new-privileges"] : []),
      `--memory=${bytes(resources?.limits?.memory ?? "")}`,
      `--cpus=${resources?.limits?.cpu}`,
      ...(volumeMounts ?? []).map(mount),
      ...(command[0] ? [`--entrypoint=${command[0]}`] : []),
      node.images?.[image] ?? built(/([\w-]+)(:[^/]*)?$/.exec(image)?.[1] ?? ""),
      ...command.slice(1),
      ...args,
    );
  for (const first of workload.pod.initContainers ?? []) run(first, "--rm", "--network=none");
  const aliases = of(objects, "Service")
    .filter(({ spec }) => spec?.selector && matches(spec.selector, workload.labels))
    .map(({ metadata }) => `--network-alias=${metadata.name}.${namespace}.svc.cluster.local`);
  return run(container, "--detach", `--network=${node.network}`, ...aliases, ...environment);
}

/** An emptyDir: a volume that belongs to root and is writable for fsGroup. */
function folderFor(group: number, node: Node): string {
  const volume = docker("volume", "create", label);
  node.scratch.push(volume);
  const prepare = [
    "--rm",
    label,
    "--network=none",
    "--user=0:0",
    "--entrypoint=sh",
    `--volume=${volume}:/volume:nocopy`,
  ];
  docker("run", ...prepare, built("proxy"), "-ec", `chgrp ${group} /volume; chmod 2775 /volume`);
  return volume;
}

/** The container's variables, with ConfigMaps, Secrets and `$(NAME)` resolved. */
function variables(objects: Resource[], name: string, namespace: string, node: Node): Record<string, string> {
  const container = workloads(objects).find((workload) => workload.name === name)?.pod.containers[0];
  const all: Record<string, string> = {};
  for (const { configMapRef } of container?.envFrom ?? []) {
    Object.assign(all, of(objects, "ConfigMap").find(({ metadata }) => metadata.name === configMapRef?.name)?.data);
  }
  for (const { name: key, value, valueFrom } of container?.env ?? []) {
    const secret = valueFrom?.secretKeyRef;
    const resolved = valueFrom?.fieldRef ? namespace : secret ? node.secrets[secret.name ?? ""]?.[secret.key] : value;
    if (resolved !== undefined)
      all[key] = resolved.replace(/\$\((\w+)\)/g, (whole, used: string) => all[used] ?? whole);
    else if (!secret?.optional) throw new Error(`${name}: ${key} has no value`);
  }
  return all;
}

/** Runs the readiness probe; true if it succeeds. */
export function isReady(objects: Resource[], name: string, id: string): boolean {
  const container = workloads(objects).find((workload) => workload.name === name)?.pod.containers[0];
  const { exec, httpGet, tcpSocket } = container?.readinessProbe ?? {};
  const named = httpGet?.port ?? tcpSocket?.port;
  const port = container?.ports?.find((candidate) => candidate.name === named)?.containerPort;
  const url = `http://127.0.0.1:${port}${httpGet?.path}`;
  const probeCommand =
    exec?.command ??
    (tcpSocket && ["bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/${port}`]) ??
    (name === "proxy"
      ? ["curl", "-fsS", url]
      : ["node", "-e", `fetch('${url}').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))`]);
  try {
    docker("exec", id, ...probeCommand);
    return true;
  } catch {
    return false;
  }
}
