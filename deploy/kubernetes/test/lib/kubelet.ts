import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import { label, restricted } from "../../../test/support/docker.ts";
import { built, docker } from "./docker.ts";
import { bytes, find, matches, of, type Part, podLabels, podOf, type Resource, unprefixed } from "./objects.ts";

/** A node simulated by Docker. */
export interface Node {
  network: string;
  /** Secret → key → value. */
  secrets: Record<string, Record<string, string>>;
  /** Volumes with the content of Secrets in kubelet's layout, by the Secret's name. */
  volumes: Record<string, string>;
  /** Images that replace those of the manifests, by the manifest's name. */
  images?: Record<string, string>;
  /** Further options of `docker run`. */
  options: string[];
}

const namespace = "culvert";

/** A node while the tests of the caller run. Afterwards all in its network is removed, and volumes that begin with its name. */
export function useNode(name: string, secrets: Node["secrets"], options: string[]): Node {
  const network = `culvert-${name}-${process.pid}`;
  const listed = (...args: string[]) => docker(...args).match(/\S+/g) ?? [];
  beforeAll(() => docker("network", "create", label, network));
  afterAll(() => {
    docker("rm", "-f", "-v", ...listed("ps", "-aq", `--filter=network=${network}`));
    docker("network", "rm", network);
    for (const volume of listed("volume", "ls", "-q", `--filter=name=${network}`)) docker("volume", "rm", volume);
  });
  return { network, secrets, options, volumes: {} };
}

/**
 * Starts a rendered pod in Docker as kubelet would: environment, user, groups, limits and volumes come from the manifest alone. rules.test.ts
 * has the rest. Returns the container's id.
 */
export function startPod(objects: Resource[], name: string, node: Node): string {
  const { initContainers = [], containers, securityContext: shared, volumes = [] } = podOf(objects, name);
  const folders = new Map<string, string>();
  const mount = ({ name: volume, mountPath, readOnly }: Part): string => {
    const { secret, emptyDir } = volumes.find((one: Part) => one.name === volume) ?? {};
    if (emptyDir?.medium === "Memory") return `--tmpfs=${mountPath}:size=${bytes(emptyDir.sizeLimit)}`;
    const source: string =
      node.volumes[secret?.secretName] ?? folders.get(volume) ?? folderFor(shared.fsGroup ?? 0, node);
    folders.set(volume, source);
    return `--volume=${source}:${mountPath}:nocopy${readOnly ? ",ro" : ""}`;
  };
  const run = ({ image, command = [], args = [], resources, volumeMounts = [] }: Part, ...more: string[]) =>
    docker(
      ...["run", ...more, label, `--user=${shared.runAsUser}:${shared.runAsGroup}`, ...restricted],
      ...(shared.fsGroup === undefined ? [] : [`--group-add=${shared.fsGroup}`]),
      ...[`--memory=${bytes(resources.limits.memory)}`, `--cpus=${resources.limits.cpu}`],
      ...volumeMounts.map(mount),
      ...(command[0] ? [`--entrypoint=${command[0]}`] : []),
      node.images?.[image] ?? built(/([\w-]+)(:[^/]*)?$/.exec(image)?.[1] ?? ""),
      ...[...command.slice(1), ...args],
    );
  for (const first of initContainers) run(first, "--rm", "--network=none");
  const aliases = of(objects, "Service")
    .filter(({ spec }) => matches(spec.selector, podLabels(objects, name)))
    .map(({ metadata }) => `--network-alias=${metadata.name}.${namespace}.svc.cluster.local`);
  const environment = Object.entries(variables(objects, containers[0], node.secrets));
  const env = environment.map(([key, value]) => `--env=${key}=${value}`);
  return run(containers[0], "--detach", `--network=${node.network}`, ...aliases, ...env, ...node.options);
}

/** An emptyDir: a volume that belongs to root and is writable for fsGroup. */
function folderFor(group: number, node: Node): string {
  const volume = docker("volume", "create", label, `${node.network}-${randomUUID()}`);
  const root = ["--rm", label, "--network=none", "--user=0:0", "--entrypoint=sh", `--volume=${volume}:/volume:nocopy`];
  docker("run", ...root, built("proxy"), "-ec", `chgrp ${group} /volume; chmod 2775 /volume`);
  return volume;
}

/** The container's variables, with ConfigMaps, Secrets and `$(NAME)` resolved. */
export function variables(
  objects: Resource[],
  { envFrom = [], env = [] }: Part,
  secrets: Node["secrets"],
): Record<string, string> {
  const all: Record<string, string> = {};
  for (const { configMapRef } of envFrom)
    Object.assign(all, find(objects, "ConfigMap", unprefixed(configMapRef.name)).data);
  for (const { name, value, valueFrom } of env) {
    const secret = valueFrom?.secretKeyRef;
    const own = secret ? secrets[secret.name]?.[secret.key] : value;
    const known: string | undefined = valueFrom?.fieldRef ? namespace : own;
    if (known !== undefined) all[name] = known.replace(/\$\((\w+)\)/g, (whole, used: string) => all[used] ?? whole);
    else if (!secret?.optional) throw new Error(`${name} has no value`);
  }
  return all;
}

/** What a pod that ends has printed, and its exit status. */
export function ended(id: string): { status: number; lines: string[] } {
  const status = Number(docker("wait", id));
  return { status, lines: docker("logs", id).split("\n") };
}

/** Runs the readiness probe; true if it succeeds. */
export function isReady(objects: Resource[], name: string, id: string): boolean {
  const [{ readinessProbe, ports }] = podOf(objects, name).containers;
  const { httpGet, tcpSocket } = readinessProbe;
  const { containerPort } = ports.find((port: Part) => port.name === (httpGet ?? tcpSocket).port);
  const url = `http://127.0.0.1:${containerPort}${httpGet?.path}`;
  const fetched = `fetch('${url}').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))`;
  const opened = ["bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/${containerPort}`];
  const asked = name === "proxy" ? ["curl", "-fsS", url] : ["node", "-e", fetched];
  return spawnSync("docker", ["exec", id, ...(tcpSocket ? opened : asked)]).status === 0;
}
