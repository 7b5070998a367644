import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { bench, docker, output } from "./docker.ts";
import { images } from "./images.ts";
import { envelope, ingestHost } from "./workload.ts";

/** Contenders never share a core with the load generator and the sink, if there are two. */
export const cores = { subject: "0", load: cpus().length > 1 ? "1" : "0" };

/** A container to start: the core it is pinned to, its names on the network, its settings and its command. */
export interface Part {
  image: string;
  core: string;
  names?: string[];
  settings?: Record<string, string>;
  switches?: string[];
  command?: string[];
}

/** The containers of one comparison, on a network of their own without external access, and the certificate they share. */
export class Testbed {
  readonly id = `culvert-bench-${randomUUID().slice(0, 8)}`;
  readonly #parts: string[] = [];

  /**
   * Creates the network and the certificate. Every container has the latter in /tls, this folder in /bench, the envelope in /run-data.
   * The network's addresses are private unless `subnet` says else.
   */
  async open(names: string[], subnet = ""): Promise<void> {
    writeFileSync(`${output}/envelope`, envelope());
    const addresses = subnet ? [`--subnet=${subnet}`] : [];
    await docker("network", "create", "--internal", "--label=culvert.bench", ...addresses, this.id);
    await docker("volume", "create", "--label=culvert.bench", this.id);
    const certificate = `cd /tls && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=bench \
      -addext "subjectAltName=${[ingestHost, ...names].map((name) => `DNS:${name}`)}" -keyout server.key -out server.crt &&
      cat server.crt server.key >server.pem && chmod 644 server.*`;
    const shell = ["--network=none", "--user=0", "--entrypoint=sh", `--volume=${this.id}:/tls`, images.proxy];
    await docker("run", "--rm", "--label=culvert.bench", ...shell, "-c", certificate);
  }

  async start(name: string, part: Part): Promise<void> {
    const { image, core, names = [], settings = {}, switches = [], command = [] } = part;
    this.#parts.push(name);
    await docker(
      ...["run", "-d", "--label=culvert.bench", `--name=${this.id}-${name}`, `--cpuset-cpus=${core}`],
      ...[`--network=${this.id}`, ...[name, ...names].map((alias) => `--network-alias=${alias}`)],
      ...[`--volume=${this.id}:/tls:ro`, `--volume=${bench}:/bench:ro`],
      ...[`--volume=${output}/envelope:/run-data/envelope:ro`, "--log-opt=max-size=10m", ...switches],
      ...[...Object.entries(settings).map(([key, value]) => `--env=${key}=${value}`), image, ...command],
    );
  }

  /** Stops one container and returns the last lines that it wrote. */
  async stop(name: string): Promise<string> {
    await docker("stop", "-t", "20", `${this.id}-${name}`);
    return logs(`${this.id}-${name}`);
  }

  /** Removes one container. */
  async remove(name: string): Promise<void> {
    await docker("rm", "-f", "-v", `${this.id}-${name}`);
  }

  /** Runs a command in one of the containers and returns its output. */
  exec(name: string, ...command: string[]): Promise<string> {
    return docker("exec", `${this.id}-${name}`, ...command);
  }

  /** Waits until curl with these arguments gets a 200 in the sink. Throws with the container's log after two minutes. */
  async ready(name: string, ...curl: string[]): Promise<void> {
    const deadline = Date.now() + 120_000;
    for (;;) {
      const answer = await this.exec("sink", "curl", "-skf", "-o", "/dev/null", ...curl).catch((error: Error) => error);
      if (!(answer instanceof Error)) return;
      if (Date.now() > deadline) throw new Error(`${name} does not respond:\n${await logs(`${this.id}-${name}`)}`);
      await pause(200);
    }
  }

  /** Removes everything, in any state. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#parts.map((name) => this.remove(name)));
    await Promise.allSettled([docker("network", "rm", this.id), docker("volume", "rm", this.id)]);
  }
}

/** Runs with a testbed of its own, which is removed in any case, also after Ctrl-C. */
export async function withTestbed<Result>(run: (testbed: Testbed) => Promise<Result>): Promise<Result> {
  const testbed = new Testbed();
  const interrupted = () => void testbed.close().then(() => process.exit(130));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, interrupted);
  try {
    return await run(testbed);
  } finally {
    for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, interrupted);
    await testbed.close();
  }
}

/** The last lines that a container wrote, to stdout and stderr. */
const logs = (container: string): Promise<string> =>
  new Promise((resolve) => {
    execFile("docker", ["logs", "--tail=5", container], (_, stdout, stderr) => resolve(stdout + stderr));
  });
