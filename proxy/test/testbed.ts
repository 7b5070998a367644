import { randomUUID } from "node:crypto";
import { inject } from "vitest";
import { docker, isLocal, label, must } from "../../deploy/test/support/docker.ts";
import { Recorder } from "../../deploy/test/support/recorder/client.ts";
import { recorderArguments } from "../../deploy/test/support/recorder/container.ts";

/** By which the ingest is known in every testbed: of a self-hosted one, and of Sentry's own. */
export const ingestNames = ["ingest", "o42.ingest.us.sentry.io", "o44.ingest.sentry.io"];

/** How a testbed differs from others. */
export interface TestbedOptions {
  /** Further network names of the ingest. */
  ingestNames?: string[];
  /** The folder with the certificate of the ingest's recorder. */
  ingestCert?: string;
  /** Whether the test changes the network, or its containers other than by `TestProxy.on`: the testbed is not used again. */
  ownNetwork?: boolean;
}

/** A network with two recorders, `web` and `ingest`, with one proxy between them. */
export interface Testbed {
  /** The network's name; with a service after it, that of a container. */
  id: string;
  /** What it can be used for. */
  kind: string;
  /** Whether this machine has an interface in the network. */
  isLocal: boolean;
  /** Whether the proxy still uses it. */
  taken: boolean;
  /** Set when a test has changed a recorder's container: the testbed is not used again. */
  changed: boolean;
}

/** Starts a container in the testbed's network, known there by these names. */
export async function startService(id: string, service: string, names: string[], ...args: string[]): Promise<void> {
  const aliases = names.map((alias) => `--network-alias=${alias}`);
  await must("run", "-d", label, `--name=${id}-${service}`, `--network=${id}`, ...aliases, ...args);
}

/** Options for ports at which only the tests ask: published where their containers' addresses are not reachable. */
export const ownPorts = (testbed: Testbed, ...ports: number[]): string[] =>
  testbed.isLocal ? [] : ports.map((port) => `--publish=127.0.0.1::${port}`);

/** Starts a recorder in the testbed's network. */
export function startRecorder(testbed: Testbed, service: string, names: string[], cert = ""): Promise<void> {
  return startService(testbed.id, service, names, ...ownPorts(testbed, 9001), ...recorderArguments(cert));
}

/** Where ports of these services are reached, as host and port; a container that is restarted may get others. */
export async function addresses(id: string, services: string[]): Promise<(service: string, port: number) => string> {
  const format = "{{.Name}} {{json .NetworkSettings.Ports}} {{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}";
  const lines = (await must("inspect", `--format=${format}`, ...services.map((one) => `${id}-${one}`))).split("\n");
  return (service, port) => {
    const line = lines.find((one) => one.startsWith(`/${id}-${service} `));
    const [, ports = "{}", own] = line?.split(" ") ?? [];
    const published = JSON.parse(ports)[`${port}/tcp`]?.[0].HostPort;
    return published ? `127.0.0.1:${published}` : `${own}:${port}`;
  };
}

/** By their kinds, testbeds that no proxy of this process uses now: starting two recorders takes more processor time than most tests. */
const idle = new Map<string, Testbed[]>();

/** Returns a testbed whose recorders have recorded nothing. */
export async function takeTestbed(options: TestbedOptions): Promise<Testbed> {
  const kind = JSON.stringify([options.ingestNames, options.ingestCert]);
  const used = options.ownNetwork ? undefined : idle.get(kind)?.pop();
  if (used) {
    const at = await addresses(used.id, ["web", "ingest"]);
    const recorders = ["web", "ingest"].map((one) => new Recorder(`http://${at(one, 9001)}`));
    await Promise.all(recorders.map((recorder) => recorder.reset()));
    return { ...used, taken: true };
  }
  const id = `${testbedPrefix(inject("run"))}${randomUUID().slice(0, 8)}`;
  try {
    const network = await must("network", "create", label, id);
    const testbed = { id, kind, isLocal: isLocal(network), taken: true, changed: Boolean(options.ownNetwork) };
    await Promise.all([
      startRecorder(testbed, "web", ["web"]),
      startRecorder(testbed, "ingest", [...ingestNames, ...(options.ingestNames ?? [])], options.ingestCert),
    ]);
    return testbed;
  } catch (error) {
    await removeTestbed(id);
    throw error;
  }
}

/** Removes what a test has put into the testbed, or the whole testbed if it cannot be used again; once. */
export async function returnTestbed(testbed: Testbed): Promise<void> {
  if (!testbed.taken) return;
  testbed.taken = false;
  if (testbed.changed) return removeTestbed(testbed.id);
  await docker("rm", "-f", "-v", ...["proxy", "web2", "spool"].map((service) => `${testbed.id}-${service}`));
  idle.set(testbed.kind, [...(idle.get(testbed.kind) ?? []), testbed]);
}

/** With what the names of all testbeds of this run of the tests begin. */
export const testbedPrefix = (run: string): string => `culvert-proxy-test-${run}-`;

/** Removes the network with this name and its containers. */
async function removeTestbed(id: string): Promise<void> {
  await docker("rm", "-f", "-v", ...["proxy", "web", "web2", "ingest", "spool"].map((service) => `${id}-${service}`));
  await docker("network", "rm", id);
}
