/** Shell that answers each line it reads with its container's processor time (cgroup v2, else v1) and the machine's, by built-ins alone. */
export const tellProcessorTime = [
  "file=/sys/fs/cgroup/cpu.stat",
  "[ -r $file ] || file=/sys/fs/cgroup/cpuacct/cpuacct.usage",
  'while read -r _; do read -r own <$file; read -r machine </proc/stat; echo "$own;$machine"; done',
].join("; ");

/**
 * Seconds of processor time that a container has used, from the first half of such a line: v2's cpu.stat counts
 * microseconds, v1's cpuacct.usage nanoseconds. Throws on anything else.
 * https://docs.kernel.org/admin-guide/cgroup-v2.html, https://docs.kernel.org/admin-guide/cgroup-v1/cpuacct.html
 */
export function parseProcessorTime(text: string): number {
  const v2 = /^usage_usec (\d+)$/.exec(text)?.[1];
  if (v2) return Number(v2) / 1e6;
  const v1 = /^(\d+)$/.exec(text)?.[1];
  if (v1) return Number(v1) / 1e9;
  throw new Error(`no processor time in: ${text.slice(0, 200)}`);
}

/** Seconds of all cores together since the machine started: at work, and in all. */
export interface MachineTime {
  worked: number;
  all: number;
}

/**
 * Reads a line of /proc/stat, which shows the whole machine in a container too, in hundredths of a second; idling and waiting for
 * disks are no work. https://man7.org/linux/man-pages/man5/proc_stat.5.html. Throws when it is something else.
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

/** Spreads the roles over a machine's cores: what is measured never shares a core with what makes the load, if there are two. */
export function assignCores(count: number): Cores {
  const load = count > 1 ? "1" : "0";
  return { subject: "0", load, sink: count > 2 ? "2" : load };
}

/** One line that says who sits where, for the head of the report. */
export function describeCores(count: number): string {
  const { subject, load, sink } = assignCores(count);
  const shared = subject === load ? "; one core only, so the load slows what it measures" : "";
  return `${count} cores: everything measured is pinned to core ${subject}, the load to core ${load}, the sink to core ${sink}${shared}`;
}
