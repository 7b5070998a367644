/** One sample of Prometheus' text format. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Takes metrics in Prometheus' text format and returns the samples. https://prometheus.io/docs/instrumenting/exposition_formats/ */
export function parseMetrics(text: string): Sample[] {
  return text.split("\n").flatMap((line) => {
    const [, name = "", list = "", value = ""] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (!name) return [];
    const labels = Object.fromEntries([...list.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = "", of = ""]) => [key, of]));
    return [{ name, labels, value: Number(value) }];
  });
}

/** Returns the sum of a metric's samples, 0 without any. */
export const sum = (samples: Sample[], name: string) =>
  samples.filter((sample) => sample.name === name).reduce((total, { value }) => total + value, 0);

const ports = { proxy: 8081, spool: 8082 };

/** Fetches the metrics of a service. Rejects without an answer. Both answer only the network in which the stack's own names end. */
export async function scrape(service: keyof typeof ports, network = process.env.INTERNAL_NETWORK): Promise<Sample[]> {
  const url = `http://${service}.${network}:${ports[service]}/metrics`;
  return parseMetrics(await (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text());
}

/** Returns a duration in the largest unit that fits, such as "5 min". */
export function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
