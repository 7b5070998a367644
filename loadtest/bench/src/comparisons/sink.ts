import type { Bench } from "../bench.ts";
import { ingestHost } from "../far-end.ts";
import type { Comparison } from "../report.ts";

/** The most that load and sink can do on their core without anything between them: the ceiling of every figure below. */
export async function sink(bench: Bench): Promise<Comparison> {
  const url = `https://${ingestHost}:443/api/1/envelope/`;
  const samples = await bench.compare({
    sink: { charged: ["sink"], run: () => bench.wrk("envelope", url, bench.knobs.connections), mustArrive: true },
  });
  return {
    title: "The sink by itself",
    how: "wrk straight at the sink over TLS, HTTP/1.1. A tunnel that comes near this is held back by the bench.",
    samples,
    claims: [],
  };
}
