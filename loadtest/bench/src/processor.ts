/** A shell script that responds to each input line with the processor time of its container (cgroup v2, else v1) and machine, using built-ins only. */
export const tellProcessorTime = [
  "file=/sys/fs/cgroup/cpu.stat",
  "[ -r $file ] || file=/sys/fs/cgroup/cpuacct/cpuacct.usage",
  'while read -r _; do read -r own <$file; read -r machine </proc/stat; echo "$own;$machine"; done',
].join("; ");

/**
 * Seconds of processor time that a container has used, from the first half of such a line: v2's cpu.stat counts
 * microseconds, v1's cpuacct.usage nanoseconds. Throws on any other text.
 * https://docs.kernel.org/admin-guide/cgroup-v2.html, https://docs.kernel.org/admin-guide/cgroup-v1/cpuacct.html
 */
export function parseProcessorTime(text: string): number {
  const v2 = /^usage_usec (\d+)$/.exec(text)?.[1];
  if (v2) return Number(v2) / 1e6;
  const v1 = /^(\d+)$/.exec(text)?.[1];
  if (v1) return Number(v1) / 1e9;
  throw new Error(`no processor time in: ${text.slice(0, 200)}`);
}

/** Seconds of all cores together since the machine started: busy, and in total. */
export interface MachineTime {
  worked: number;
  all: number;
}

/**
 * Reads a line of /proc/stat, which shows the whole machine in a container too, in hundredths of a second; idle and I/O wait do not
 * count as work. https://man7.org/linux/man-pages/man5/proc_stat.5.html. Throws on any other text.
 */
export function parseMachineTime(text: string): MachineTime {
  const numbers = /^cpu +([\d ]+)$/.exec(text)?.[1]?.split(" ").map(Number) ?? [];
  const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, steal] = numbers;
  if (steal === undefined) throw new Error(`no processor time in: ${text.slice(0, 200)}`);
  const worked = (user + nice + system + irq + softirq + steal) / 100;
  return { worked, all: worked + (idle + waiting) / 100 };
}

/** Which core each role is pinned to. */
export interface Cores {
  subject: string;
  load: string;
  sink: string;
}

/** Assigns the roles to cores: contenders never share a core with the load generator, if there are two. */
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
