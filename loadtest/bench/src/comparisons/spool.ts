import { type Bench, claim } from "../bench.ts";
import { type Contender, filled, tunnelOf } from "../contenders.ts";
import { parseReceiver, receiver } from "../load.ts";
import type { Comparison } from "../markdown.ts";
import { spread } from "../statistics.ts";
import { envelopeBytes } from "../workload.ts";

/** As many as the proxy keeps open. */
const CONNECTIONS = 64;

/** The cost of an idle spool, and how many envelopes the spool accepts while the ingest is down. */
export async function spool(bench: Bench): Promise<Comparison> {
  const { connections, seconds } = bench.options;
  const post = (name: Contender, ...charged: string[]) => ({
    charged: [name, ...charged],
    run: () => bench.wrk("envelope", tunnelOf(name), connections),
    mustArrive: true,
  });
  // A difference of two percent needs more rounds than a factor of two.
  const idle = await bench
    .longer(3)
    .compare({ proxy: post("proxy"), "proxy, idle spool": post("proxy-with-spool", "spool") });
  const { filling } = await bench.compare({
    filling: {
      charged: ["spool-filled"],
      run: async () =>
        parseReceiver(await bench.testbed.exec("load", ...receiver(filled.url, filled.to, CONNECTIONS, seconds))),
    },
  });
  const [without, beside] = [idle.proxy, idle["proxy, idle spool"]];
  return {
    title: "The spool",
    how:
      `The proxy with an idle spool, and without one, ${envelopeBytes} bytes an envelope. Filling: 2 KB an envelope, ` +
      `${CONNECTIONS} connections directly to a spool whose ingest is down, each acknowledged after fsync.`,
    samples: { ...idle, filling },
    claims: [
      claim("proxy with an idle spool / without, envelopes per CPU second", beside, without, "perCpuSecond", {
        atLeast: 0.98,
      }),
      claim("proxy with an idle spool / without, envelopes per second", beside, without, "perSecond"),
      {
        text: "filling: envelopes per second",
        ratio: spread(filling.map(({ perSecond }) => perSecond)),
        goal: { atLeast: 2000 },
      },
    ],
  };
}
