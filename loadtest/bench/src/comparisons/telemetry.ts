import { type Bench, claim } from "../bench.ts";
import { type Contender, originOf } from "../contenders.ts";
import type { Comparison } from "../markdown.ts";

const CONNECTIONS = 8;

/** The cost of telemetry on the app's server: its front page, with the same image and different settings. */
export async function telemetry(bench: Bench): Promise<Comparison> {
  const plan = (name: Contender) => ({
    charged: [name],
    run: () => bench.wrk("plain", `${originOf(name)}/`, CONNECTIONS),
  });
  const samples = await bench.compare({
    none: plan("no-telemetry"),
    "errors only": plan("errors-only"),
    "one trace in ten": plan("web"),
    "every trace": plan("every-trace"),
  });
  const { none } = samples;
  const cost = (name: Exclude<keyof typeof samples, "none">, goal?: { atLeast: number }) =>
    claim(`${name} / none, pages per CPU second`, samples[name], none, "perCpuSecond", goal);
  return {
    title: "What telemetry costs a page",
    how: `\`/\` directly from \`web\`, uncompressed, ${CONNECTIONS} connections. One trace in ten is the default with a DSN of your own.`,
    samples,
    claims: [cost("errors only"), cost("one trace in ten", { atLeast: 0.9 }), cost("every trace")],
  };
}
