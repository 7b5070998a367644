/** Returns the sum of a metric's samples; 0 without any. */
export function sum(text: string, name: string): number {
  const samples = [...text.matchAll(/^([a-z_]+)(?:\{.*\})? (\S+)$/gm)];
  return samples.reduce((total, [, metric, value]) => total + (metric === name ? Number(value) : 0), 0);
}

/** Fetches the metrics of a service, which answers only the network in which the stack's own names end. */
export async function scrape(service: "proxy" | "spool"): Promise<string> {
  const url = `http://${service}.${process.env.INTERNAL_NETWORK}:${service === "proxy" ? 8081 : 8082}/metrics`;
  return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text();
}
