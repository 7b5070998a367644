import type { Bench } from "../bench.ts";
import type { Comparison } from "../markdown.ts";
import { ingestHost } from "../workload.ts";

/** The capacity of load generator and sink on their core without a proxy between them: the upper bound of every figure below. */
export async function sink(bench: Bench): Promise<Comparison> {
  const url = `https://${ingestHost}:443/api/1/envelope/`;
  const samples = await bench.compare({
    sink: { charged: ["sink"], run: () => bench.wrk("envelope", url, bench.options.connections), mustArrive: true },
  });
  return {
    title: "The sink by itself",
    how: "wrk directly to the sink over TLS, HTTP/1.1. A tunnel close to this is limited by the bench.",
    samples,
    claims: [],
  };
}
