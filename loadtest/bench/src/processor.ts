import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Processor seconds that a container has used, and those of the whole machine: busy, and in total. */
export interface Reading {
  own: number;
  worked: number;
  all: number;
}

/** Answers each line of input with the processor time of its container (cgroup v2, else v1) and of the machine. */
const script = [
  "file=/sys/fs/cgroup/cpu.stat",
  "[ -r $file ] || file=/sys/fs/cgroup/cpuacct/cpuacct.usage",
  'while read -r _; do read -r own <$file; read -r machine </proc/stat; echo "$own;$machine"; done',
].join("; ");

/**
 * Parses such a line. v2's cpu.stat counts microseconds, v1's cpuacct.usage nanoseconds, /proc/stat hundredths of a second.
 * https://docs.kernel.org/admin-guide/cgroup-v2.html, https://man7.org/linux/man-pages/man5/proc_stat.5.html
 */
export function parseReading(line: string): Reading {
  const [, v2, v1, machine] = /^(?:usage_usec (\d+)|(\d+));cpu +([\d ]+)$/.exec(line) ?? [];
  if (!machine) throw new Error(`no processor time in: ${line.slice(0, 200)}`);
  const own = v2 ? Number(v2) / 1e6 : Number(v1) / 1e9;
  const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, steal = 0] = machine
    .split(" ")
    .map(Number);
  const worked = (user + nice + system + irq + softirq + steal) / 100;
  return { own, worked, all: worked + (idle + waiting) / 100 };
}

/** Reads a container's processor time through one open shell: a `docker exec` each time would cost more than what is measured. */
export class Meter {
  readonly #shell: ChildProcess;
  readonly #asked: { resolve: (reading: Reading) => void; reject: (error: Error) => void }[] = [];

  constructor(container: string) {
    this.#shell = spawn("docker", ["exec", "-i", container, "sh", "-c", script], { stdio: ["pipe", "pipe", "ignore"] });
    createInterface({ input: this.#shell.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      const asked = this.#asked.shift();
      try {
        asked?.resolve(parseReading(line));
      } catch (error) {
        asked?.reject(error as Error);
      }
    });
    this.#shell.on("close", () => {
      for (const { reject } of this.#asked.splice(0)) reject(new Error(`${container} has stopped`));
    });
    this.#shell.stdin?.on("error", () => {}); // handled by "close"
  }

  read(): Promise<Reading> {
    return new Promise((resolve, reject) => {
      if (this.#shell.exitCode !== null) return reject(new Error("the container has stopped"));
      this.#asked.push({ resolve, reject });
      this.#shell.stdin?.write("\n");
    });
  }

  close(): void {
    this.#shell.stdin?.end();
  }
}

/** Which core each role is pinned to. */
export interface Cores {
  subject: string;
  load: string;
  sink: string;
}

/** Assigns roles to cores: contenders never share a core with the load generator, if there are two. */
export function assignCores(count: number): Cores {
  const load = count > 1 ? "1" : "0";
  return { subject: "0", load, sink: count > 2 ? "2" : load };
}

/** One line about the assignment, for the head of the results. */
export function describeCores(count: number): string {
  const { subject, load, sink } = assignCores(count);
  const shared = subject === load ? "; one core only, so the load slows down the contenders" : "";
  return `${count} cores: all contenders are pinned to core ${subject}, the load to core ${load}, the sink to core ${sink}${shared}`;
}
