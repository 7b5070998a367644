import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { inject } from "vitest";
import { docker, isLocal, label, must, recorderArguments } from "../../deploy/test/support/docker.ts";
import { Recorder } from "../../deploy/test/support/recorder/client.ts";

/** By which the ingest is known in every testbed: of a self-hosted one, and of Sentry's own. Its certificate has these names. */
export const ingestNames = ["ingest", "o42.ingest.us.sentry.io", "o44.ingest.sentry.io"];
const otherIngestName = "other";

/** A network with two recorders, `web` and `ingest`, with one proxy between them. */
export interface Testbed {
  /** The network's name; with a service after it, that of a container. */
  id: string;
  /** Whether this machine has an interface in the network. */
  isLocal: boolean;
  /** Set when a test may have changed the network or a recorder's container: the testbed is not used again. */
  changed: boolean;
}

/** Starts a container in the testbed's network, known there by these names, with ports at which only the tests ask. */
export async function startService(
  testbed: Testbed,
  service: string,
  names: string[],
  ports: number[],
  ...args: string[]
): Promise<void> {
  const aliases = names.map((alias) => `--network-alias=${alias}`);
  // Published only where their containers' addresses are not reachable.
  const published = testbed.isLocal ? [] : ports.map((port) => `--publish=127.0.0.1::${port}`);
  const name = `--name=${testbed.id}-${service}`;
  await must("run", "-d", label, name, `--network=${testbed.id}`, ...aliases, ...published, ...args);
}

/** Starts a recorder in the testbed's network. */
export function startRecorder(testbed: Testbed, service: string, names: string[], certificate = ""): Promise<void> {
  return startService(testbed, service, names, [9001], ...recorderArguments(certificate));
}

/**
 * Starts a container at this name and port that answers no connection, as an address that is gone: its queue of connections is full, and nobody
 * accepts them.
 */
export async function startSilent(testbed: Testbed, service: string, address: string): Promise<void> {
  const [name = "", port] = address.split(":");
  const fill = `for (let n = 0; n < 4; n++) net.connect(${port}).on("connect", () => console.log("connected"))`;
  const block = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`;
  const listen = `net.createServer().listen({ port: ${port}, backlog: 1 }, () => {
    child_process.spawn(process.execPath, ["-e", ${JSON.stringify(fill)}], { stdio: "inherit" });
    ${block};
  })`;
  await startService(testbed, service, [name], [], "node:24-trixie-slim", "node", "-e", listen);
  const connected = async () => (await must("logs", `${testbed.id}-${service}`)).split("connected").length - 1;
  while ((await connected()) < 2) await pause(50);
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

/** Containers that only some tests start. */
const others = ["web2", "spool", "silent0", "silent1", "silent2"];

/** Testbeds that no proxy of this process uses now: starting two recorders takes more processor time than most tests. */
const idle: Testbed[] = [];

/** Returns a testbed whose recorders have recorded nothing. */
export async function takeTestbed(): Promise<Testbed> {
  const used = idle.pop();
  if (used) {
    const at = await addresses(used.id, ["web", "ingest"]);
    await Promise.all(["web", "ingest"].map((one) => new Recorder(`http://${at(one, 9001)}`).reset()));
    return used;
  }
  const id = `${inject("run")}${randomUUID().slice(0, 8)}`;
  const testbed = { id, isLocal: isLocal(await must("network", "create", label, id)), changed: false };
  await Promise.all([
    startRecorder(testbed, "web", ["web"]),
    startRecorder(testbed, "ingest", [...ingestNames, otherIngestName, "web-current"], inject("certificate")),
  ]);
  return testbed;
}

/** Removes what a test has put into the testbed, or the whole testbed if it cannot be used again. */
export async function returnTestbed(testbed: Testbed): Promise<void> {
  const { id, changed } = testbed;
  const own = changed ? ["proxy", ...others, "web", "ingest"] : ["proxy", ...others];
  await docker("rm", "-f", "-v", ...own.map((service) => `${id}-${service}`));
  if (changed) await docker("network", "rm", id);
  else idle.push(testbed);
}
