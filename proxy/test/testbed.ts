import { randomUUID } from "node:crypto";
import { inject } from "vitest";
import { docker, isLocal, label, must, recorderArguments } from "../../deploy/test/support/docker.ts";
import { Recorder } from "../../deploy/test/support/recorder/client.ts";

export const environmentOf = (settings: Record<string, string>) =>
  Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
export const mountsOf = (mounts: Record<string, string>) =>
  Object.entries(mounts).map(([file, path]) => `--volume=${file}:${path}:ro`);

/** The names of a self-hosted ingest, and of Sentry's own. */
export const ingestNames = ["ingest", "o42.ingest.us.sentry.io", "o44.ingest.sentry.io"];

export interface Testbed {
  /** The network's name; with a service after it, that of a container. */
  id: string;
  isLocal: boolean;
  /** A test may have changed the network or a recorder's container: the testbed is not used again. */
  changed: boolean;
  services: string[];
}

/** `ports`: at which only the tests ask. */
export async function startService(
  { id, isLocal, services }: Testbed,
  service: string,
  names: string[],
  ports: number[],
  ...args: string[]
): Promise<void> {
  const aliases = names.map((alias) => `--network-alias=${alias}`);
  // Published only where their containers' addresses are not reachable.
  const published = isLocal ? [] : ports.map((port) => `--publish=127.0.0.1::${port}`);
  services.push(service);
  await must("run", "-d", label, `--name=${id}-${service}`, `--network=${id}`, ...aliases, ...published, ...args);
}

/** Where ports of the services are reached. A container that is restarted may get others. */
export async function addresses({ id, services }: Testbed): Promise<(service: string, port: number) => string> {
  const format = "{{.Name}} {{json .NetworkSettings.Ports}} {{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}";
  const lines = (await must("inspect", `--format=${format}`, ...services.map((name) => `${id}-${name}`))).split("\n");
  return (service, port) => {
    const line = lines.find((line) => line.startsWith(`/${id}-${service} `));
    const [, ports = "{}", ip] = line?.split(" ") ?? [];
    const published = JSON.parse(ports)[`${port}/tcp`]?.[0].HostPort;
    return published ? `127.0.0.1:${published}` : `${ip}:${port}`;
  };
}

/** Starting two recorders takes more processor time than most tests. */
const idle: Testbed[] = [];
const recorders = ["web", "ingest"];

export async function takeTestbed(): Promise<Testbed> {
  const used = idle.pop();
  if (used) {
    const at = await addresses(used);
    await Promise.all(recorders.map((service) => new Recorder(`http://${at(service, 9001)}`).reset()));
    return used;
  }
  const id = `${inject("run")}${randomUUID().slice(0, 8)}`;
  const isOwn = isLocal(await must("network", "create", label, id));
  const testbed = { id, isLocal: isOwn, changed: false, services: [] };
  const names = [...ingestNames, "other", "web-current"];
  await Promise.all([
    startService(testbed, "web", ["web"], [9001], ...recorderArguments()),
    startService(testbed, "ingest", names, [9001], ...recorderArguments(inject("folder"))),
  ]);
  return testbed;
}

export async function returnTestbed(testbed: Testbed): Promise<void> {
  const { id, changed, services } = testbed;
  const removed = services.filter((service) => changed || !recorders.includes(service));
  await docker("rm", "-f", "-v", ...removed.map((service) => `${id}-${service}`));
  if (changed) await docker("network", "rm", id);
  else idle.push({ ...testbed, services: [...recorders] });
}
