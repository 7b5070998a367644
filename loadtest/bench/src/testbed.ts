import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { docker, logs } from "./docker.ts";
import { images } from "./images.ts";
import { bench, output } from "./paths.ts";
import { Meter, type Reading } from "./processor.ts";
import { envelope, ingestHost } from "./workload.ts";

/** A container to start: the core it is pinned to, its names on the network, its settings and its command. */
export interface Part {
  image: string;
  core: string;
  names?: string[];
  settings?: Record<string, string>;
  switches?: string[];
  command?: string[];
}

/** The containers of one run, on a network of their own without external access, and the certificate they share. */
export class Testbed {
  readonly id = `culvert-bench-${randomUUID().slice(0, 8)}`;
  readonly #parts: string[] = [];
  readonly #meters = new Map<string, Meter>();

  /**
   * Creates the network and the certificate. Every container has the latter in /tls, configs in /bench, the envelope in /run-data.
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
    const shell = [
      "--network=none",
      "--user=0",
      "--entrypoint=sh",
      `--volume=${this.id}:/tls`,
      images.proxy,
      "-c",
      certificate,
    ];
    await docker("run", "--rm", "--label=culvert.bench", ...shell);
  }

  async start(
    name: string,
    { image, core, names = [], settings = {}, switches = [], command = [] }: Part,
  ): Promise<void> {
    this.#parts.push(name);
    await docker(
      ...["run", "-d", "--label=culvert.bench", `--name=${this.id}-${name}`, `--cpuset-cpus=${core}`],
      ...[`--network=${this.id}`, ...[name, ...names].map((alias) => `--network-alias=${alias}`)],
      ...[
        `--volume=${this.id}:/tls:ro`,
        `--volume=${bench}:/bench:ro`,
        `--volume=${output}/envelope:/run-data/envelope:ro`,
      ],
      ...[
        "--log-opt=max-size=10m",
        ...switches,
        ...Object.entries(settings).map(([key, value]) => `--env=${key}=${value}`),
      ],
      ...[image, ...command],
    );
  }

  /** Stops one container and returns the last lines that it wrote. */
  async stop(name: string): Promise<string> {
    await docker("stop", "-t", "20", `${this.id}-${name}`);
    return logs(`${this.id}-${name}`);
  }

  /** Stops and removes one container. */
  async remove(name: string): Promise<void> {
    await docker("rm", "-f", "-v", `${this.id}-${name}`);
  }

  /** Runs a command in one of the containers and returns its output. */
  exec(name: string, ...command: string[]): Promise<string> {
    return docker("exec", `${this.id}-${name}`, ...command);
  }

  /** Reads the processor time of each of these containers. */
  processorTime(...names: string[]): Promise<Reading[]> {
    return Promise.all(names.map((name) => this.#meter(name).read()));
  }

  #meter(name: string): Meter {
    const meter = this.#meters.get(name) ?? new Meter(`${this.id}-${name}`);
    this.#meters.set(name, meter);
    return meter;
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
    for (const meter of this.#meters.values()) meter.close();
    await Promise.allSettled(this.#parts.map((name) => docker("rm", "-f", "-v", `${this.id}-${name}`)));
    await Promise.allSettled([docker("network", "rm", this.id), docker("volume", "rm", this.id)]);
  }
}
