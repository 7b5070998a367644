import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { type MachineTime, parseMachineTime, parseProcessorTime, tellProcessorTime } from "./processor.ts";

/** What a meter shows: the seconds that its container has used so far, and what the whole machine has. */
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
 * requests do, so one shell stays in there and answers.
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
        reject(new Error(`${container} tells no processor time any more`));
    });
    this.#shell.stdin?.on("error", () => {}); // told by "close"
  }

  /** Rejects when the container is gone. */
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
