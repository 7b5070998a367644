import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { docker, label, must, restricted, root } from "../../deploy/test/support/docker.ts";
import { Recorder } from "../../deploy/test/support/recorder/client.ts";

const RECORDER_IMAGE = "node:24-trixie-slim";
const recorderFolder = `${root}/deploy/test/support/recorder`;

/** The image of web that the stack under test runs. */
export const webImage = `${process.env.COMPOSE_PROJECT_NAME}-web`;

/** As docker-compose.yml runs web. */
export const hardened = [...restricted, "--tmpfs=/tmp:uid=1000,mode=0700"];

/** Containers beside the stack, on a network of their own, for what would disturb other tests. */
export interface Lab {
  /** Starts a container that the others reach as `name`; with `port`, returns the host's port that leads there. */
  run(name: string, args: string[], image: string, port?: number, command?: string[]): Promise<number>;
  /** Starts a recording ingest, reached by `names` on 9000 (and 9443 with the folder of a certificate `server`). */
  record(names: string[], certificates?: string): Promise<Recorder>;
  /** Runs a docker command on one of the containers. */
  on(name: string, ...command: string[]): Promise<string>;
  /** Runs a command in one of the containers and returns what it wrote. */
  exec(name: string, ...command: string[]): Promise<string>;
  /** What a container has written, on both streams. */
  log(name: string): Promise<string>;
  close(): Promise<void>;
}

/** Opens a lab; whoever opens it closes it. */
export async function openLab(): Promise<Lab> {
  const id = `culvert-lab-${randomUUID().slice(0, 8)}`;
  const containers: string[] = [];
  await must("network", "create", label, id);
  const lab: Lab = {
    run: async (name, args, image, port, command = []) => {
      const container = `${id}-${name}`;
      containers.push(container);
      const publish = port ? ["-p", `127.0.0.1::${port}`] : [];
      const place = [label, `--name=${container}`, `--network=${id}`, `--network-alias=${name}`];
      await must("run", "-d", ...place, ...publish, ...args, image, ...command);
      return port ? Number((await must("port", container, String(port))).split("\n")[0]?.split(":").at(-1)) : 0;
    },
    record: async (names, certificates) => {
      const aliases = names.map((name) => `--network-alias=${name}`);
      const tls = certificates ? [`--volume=${certificates}:/cert:ro`, "--env=CERT=/cert/server"] : [];
      const args = [...aliases, ...tls, `--volume=${recorderFolder}:/recorder:ro`];
      const port = await lab.run("recorder", args, RECORDER_IMAGE, 9001, ["node", "/recorder/server.ts"]);
      await answering(`http://127.0.0.1:${port}/count`);
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
  return lab;
}

/** Waits until an address answers. */
export async function answering(url: string, patienceMs = 20_000): Promise<void> {
  const end = Date.now() + patienceMs;
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
  throw new Error(`${url} did not answer within ${patienceMs} ms`);
}
