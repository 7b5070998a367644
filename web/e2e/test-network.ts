import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { docker, label, must, restricted } from "../../deploy/test/support/docker.ts";
import { Recorder } from "../../deploy/test/support/recorder/client.ts";
import { recorderArguments } from "../../deploy/test/support/recorder/container.ts";

/** The image of web that the stack under test runs. */
export const webImage = `${process.env.COMPOSE_PROJECT_NAME}-web`;

/** As docker-compose.yml runs web. */
export const hardened = [...restricted, "--tmpfs=/tmp:uid=1000,mode=0700"];

/** Containers beside the stack, on a network of their own, for tests that would disturb the others. */
export interface TestNetwork {
  /** Starts a container that the others reach as `name`; with `port`, publishes it and returns the port on the host. `args` are those of `docker run`. */
  run(name: string, args: string[], port?: number): Promise<number>;
  /** Starts a recording ingest, reached by `names` on 9000 (and 9443 with the folder of a certificate `server`). */
  startRecorder(names: string[], certificates?: string): Promise<Recorder>;
  /** Runs a docker command on one of the containers. */
  on(name: string, ...command: string[]): Promise<string>;
  /** Runs a command in one of the containers and returns what it wrote. */
  exec(name: string, ...command: string[]): Promise<string>;
  /** The output of a container, stdout and stderr. */
  log(name: string): Promise<string>;
  close(): Promise<void>;
}

/** Creates a test network; the caller must close it. */
export async function createTestNetwork(): Promise<TestNetwork> {
  const id = `culvert-e2e-${randomUUID().slice(0, 8)}`;
  const containers: string[] = [];
  await must("network", "create", label, id);
  const network: TestNetwork = {
    run: async (name, args, port) => {
      const container = `${id}-${name}`;
      containers.push(container);
      const publish = port ? ["-p", `127.0.0.1::${port}`] : [];
      const place = [label, `--name=${container}`, `--network=${id}`, `--network-alias=${name}`];
      await must("run", "-d", ...place, ...publish, ...args);
      return port ? Number((await must("port", container, String(port))).split("\n")[0]?.split(":").at(-1)) : 0;
    },
    startRecorder: async (names, certificates) => {
      const aliases = names.map((name) => `--network-alias=${name}`);
      const port = await network.run("recorder", [...aliases, ...recorderArguments(certificates)], 9001);
      await waitUntilUp(`http://127.0.0.1:${port}/count`);
      return new Recorder(`http://127.0.0.1:${port}`);
    },
    on: (name, command = "", ...rest) => must(command, ...rest, `${id}-${name}`),
    exec: (name, ...command) => must("exec", `${id}-${name}`, ...command),
    log: (name) => must("logs", `${id}-${name}`),
    close: async () => {
      await docker("rm", "-f", "-v", ...containers);
      await docker("network", "rm", id);
    },
  };
  return network;
}

/** Waits until an address responds with a success status. */
export async function waitUntilUp(url: string, timeoutMs = 120_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (Date.now() < end) {
    if (
      await fetch(url).then(
        (response) => response.ok,
        () => false,
      )
    )
      return;
    await pause(100);
  }
  throw new Error(`${url} did not respond within ${timeoutMs} ms`);
}
