import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { label, projectName } from "../../../test/support/docker.ts";
import {
  bytes,
  find,
  matches,
  of,
  type Part,
  podLabels,
  podOf,
  type Resource,
  temporaryFolder,
  unprefixed,
} from "./objects.ts";

/** The image of the tested stack, by its name in the manifests: culvert-web, culvert-proxy … */
export const built = (name: string): string =>
  `${process.env.COMPOSE_PROJECT_NAME ?? "culvert"}-${name.replace(/^culvert-/, "")}`;

export const hasImages = (...names: string[]): boolean =>
  spawnSync("docker", ["image", "inspect", ...names.map(built)], { stdio: "ignore" }).status === 0;

const namespace = "culvert";
const labels = [label.replace("--label=", "")];

type Secrets = Record<string, Record<string, string>>;

/** Rendered pods as services of compose, which runs them as kubelet would. All is removed after the tests of the caller. */
export function useNode(name: string, secrets: Secrets) {
  const [folder, project] = [temporaryFolder(), projectName(name)];
  const services: Record<string, Part> = {};
  /** By the manifest's name. */
  const images: Record<string, string> = {};
  const compose = (args: string[]) => {
    const mounts: Part[] = Object.values(services).flatMap(({ volumes = [] }) => volumes);
    const named = mounts.filter(({ type }) => type === "volume").map(({ source }) => [source, { labels }]);
    const file = { services, volumes: Object.fromEntries(named), networks: { default: { labels } } };
    writeFileSync(join(folder, "compose.json"), JSON.stringify(file).replaceAll("$", "$$$$"));
    const options = [`--project-name=${project}`, `--file=${folder}/compose.json`];
    return spawnSync("docker", ["compose", ...options, ...args], { encoding: "utf8" });
  };
  const run = (args: string[]): string => printed(args, compose(args));
  const inContainer = (service: string, args: string[], input = "") =>
    spawnSync("docker", ["exec", "--interactive", `${project}-${service}-1`, ...args], { input, encoding: "utf8" });
  const exec = (service: string, ...args: string[]): string => printed(args, inContainer(service, args));
  afterAll(() => void run(["down", "--volumes", "--timeout=0"]));

  /** Adds a pod as a service, which it returns. An emptyDir is a volume of root's that is writable for fsGroup. */
  const addPod = (objects: Resource[], pod: string, as = pod): Part => {
    const { initContainers = [], containers, securityContext: shared, volumes = [] } = podOf(objects, pod);
    const [main] = containers;
    const mount = ({ name: volume, mountPath: target, readOnly: read_only = false }: Part) => {
      const { secret, emptyDir } = volumes.find(({ name }: Part) => name === volume) ?? {};
      if (emptyDir?.medium === "Memory") return { type: "tmpfs", target, tmpfs: { size: bytes(emptyDir.sizeLimit) } };
      const source = secret?.secretName ?? `${as}.${volume}`;
      return { type: "volume", source, target, read_only, volume: { nocopy: true } };
    };
    const container = ({ image, command, args, resources, volumeMounts = [] }: Part) => ({
      labels,
      image: images[image] ?? built(/([\w-]+)(:[^/]*)?$/.exec(image)?.[1] ?? ""),
      user: `${shared.runAsUser}:${shared.runAsGroup}`,
      group_add: shared.fsGroup ? [shared.fsGroup] : [],
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges"],
      mem_limit: bytes(resources.limits.memory),
      cpus: resources.limits.cpu,
      volumes: volumeMounts.map(mount),
      entrypoint: command,
      command: args,
    });
    const service = container(main);
    const aliases = of(objects, "Service")
      .filter(({ spec }) => matches(spec.selector, podLabels(objects, pod)))
      .map(({ metadata }) => `${metadata.name}.${namespace}.svc.cluster.local`);
    const networks = { default: { aliases: ["kubernetes.default.svc", ...aliases] } };
    const folders = service.volumes.filter(({ source = "" }: Part) => source.startsWith(`${as}.`));
    const chown = `for folder in /folders/*; do chgrp ${shared.fsGroup} $folder; chmod 2775 $folder; done`;
    const chowning = {
      image: built("proxy"),
      user: "0:0",
      entrypoint: ["sh", "-ec", chown],
      volumes: folders.map((volume: Part) => ({ ...volume, read_only: false, target: `/folders/${volume.source}` })),
    };
    const all: Part[] = [...(folders.length > 0 ? [chowning] : []), ...initContainers.map(container)];
    all.push({ ...service, environment: variables(objects, main, secrets), networks, healthcheck: probeOf(main) });
    const condition = "service_completed_successfully";
    for (const [at, step] of all.entries()) {
      const before = at > 0 && { depends_on: { [`${as}-init-${at - 1}`]: { condition } } };
      services[at === all.length - 1 ? as : `${as}-init-${at}`] = { ...step, ...before };
    }
    return services[as];
  };
  return { services, images, compose, run, inContainer, exec, addPod };
}

function printed(args: string[], { status, stdout, stderr }: SpawnSyncReturns<string>): string {
  if (status !== 0) throw new Error(`${args.join(" ")}: ${stderr}${stdout}`);
  return stdout.trim();
}

function probeOf({ name, readinessProbe, ports }: Part) {
  if (!readinessProbe) return undefined;
  const { httpGet, tcpSocket } = readinessProbe;
  const { containerPort } = ports.find((port: Part) => port.name === (httpGet ?? tcpSocket).port);
  const url = `http://127.0.0.1:${containerPort}${httpGet?.path}`;
  const fetched = ["node", "-e", `fetch('${url}').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))`];
  const opened = ["bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/${containerPort}`];
  const test = tcpSocket ? opened : name === "proxy" ? ["curl", "-fsS", url] : fetched;
  return { test: ["CMD", ...test], interval: "1h", start_interval: "500ms", start_period: "1h", timeout: "5s" };
}

export function variables(objects: Resource[], { envFrom = [], env = [] }: Part, secrets: Secrets) {
  const all: Record<string, string> = {};
  for (const { configMapRef } of envFrom)
    Object.assign(all, find(objects, "ConfigMap", unprefixed(configMapRef.name)).data);
  for (const { name, value, valueFrom } of env) {
    const secret = valueFrom?.secretKeyRef;
    const text = secret ? secrets[secret.name]?.[secret.key] : value;
    const known: string | undefined = valueFrom?.fieldRef ? namespace : text;
    if (known !== undefined) all[name] = known.replace(/\$\((\w+)\)/g, (whole, used: string) => all[used] ?? whole);
    else if (!secret?.optional) throw new Error(`${name} has no value`);
  }
  return all;
}
