import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { type MachineTime, parseMachineTime, parseProcessorTime, tellProcessorTime } from "./processor.ts";

/** A meter's reading: the processor seconds that its container and the whole machine have used so far. */
export interface Reading {
  own: number;
  machine: MachineTime;
}

interface Asked {
  resolve: (reading: Reading) => void;
  reject: (error: Error) => void;
}

/**
 * Reads a container's processor time. A `docker exec` for each reading would cost the container more than hundreds of
 * requests, so one shell stays open in the container.
 */
export class Meter {
  readonly #shell: ChildProcess;
  readonly #asked: Asked[] = [];

  constructor(container: string) {
    this.#shell = spawn("docker", ["exec", "-i", container, "sh", "-c", tellProcessorTime], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    createInterface({ input: this.#shell.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      const { resolve, reject } = this.#asked.shift() as Asked;
      try {
        const [own = "", machine = ""] = line.split(";");
        resolve({ own: parseProcessorTime(own), machine: parseMachineTime(machine) });
      } catch (error) {
        reject(error as Error);
      }
    });
    this.#shell.on("close", () => {
      for (const { reject } of this.#asked.splice(0))
        reject(new Error(`${container} no longer reports its processor time`));
    });
    this.#shell.stdin?.on("error", () => {}); // handled by "close"
  }

  /** Rejects if the container has stopped. */
  read(): Promise<Reading> {
    return new Promise((resolve, reject) => {
      if (this.#shell.exitCode !== null) return reject(new Error("the container's shell has ended"));
      this.#asked.push({ resolve, reject });
      this.#shell.stdin?.write("\n");
    });
  }

  close(): void {
    this.#shell.stdin?.end();
  }
}
