import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { parseProcessorTime, tellProcessorTime } from "./processor.ts";

interface Asked {
  resolve: (seconds: number) => void;
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
        resolve(parseProcessorTime(line));
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

  /** Seconds that the container has used so far; rejects when it is gone. */
  read(): Promise<number> {
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
