/** One sample of Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats/ */
export interface Sample {
  name: string;
  labels: string;
  value: number;
}

export const parseMetrics = (text: string): Sample[] =>
  [...text.matchAll(/^([a-z_]+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = "", labels = "", value]) => ({
    name,
    labels,
    value: Number(value),
  }));

/** Returns the sum of a metric's samples whose labels contain a text, 0 without any. */
export const sum = (samples: Sample[], name: string, labels = "") =>
  samples
    .filter((one) => one.name === name && one.labels.includes(labels))
    .reduce((total, { value }) => total + value, 0);

/** Fetches the metrics of a service. Rejects without an answer. They answer only the network in which the stack's own names end. */
export async function scrape(service: "proxy" | "spool", network = process.env.INTERNAL_NETWORK): Promise<Sample[]> {
  const url = `http://${service}.${network}:${service === "proxy" ? 8081 : 8082}/metrics`;
  return parseMetrics(await (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text());
}

/** Returns a duration in the largest unit that fits, such as "5 min". */
export function duration(seconds: number): string {
  const units = [
    [172_800, 86_400, "days"],
    [7_200, 3_600, "h"],
    [120, 60, "min"],
    [0, 1, "s"],
  ] as const;
  const [, size, unit] = units.find(([from]) => seconds >= from) ?? units[3];
  return `${Math.round(seconds / size)} ${unit}`;
}
