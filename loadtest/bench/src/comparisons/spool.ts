import { type Bench, claim } from "../bench.ts";
import { type Contender, filled, tunnelOf } from "../contenders.ts";
import { envelopeBytes } from "../far-end.ts";
import { intake, parseIntake } from "../load.ts";
import type { Comparison } from "../report.ts";
import { spread } from "../statistics.ts";

/** As many as the proxy keeps open. */
const CONNECTIONS = 64;

/** What the spool costs while it has nothing to do, and how much it takes when the ingest is out. */
export async function spool(bench: Bench): Promise<Comparison> {
  const { connections, seconds } = bench.knobs;
  const post = (name: Contender, ...charged: string[]) => ({
    charged: [name, ...charged],
    run: () => bench.wrk("envelope", tunnelOf(name), connections),
    mustArrive: true,
  });
  // A difference of two in a hundred wants more rounds than one of two times.
  const idle = await bench.longer(3).compare({ edge: post("edge"), "edge, idle spool": post("edge-spool", "spool") });
  const { filling } = await bench.compare({
    filling: {
      charged: ["spool-filled"],
      run: async () =>
        parseIntake(await bench.stage.exec("load", ...intake(filled.url, filled.to, CONNECTIONS, seconds))),
    },
  });
  const [without, beside] = [idle.edge, idle["edge, idle spool"]];
  return {
    title: "The spool",
    how:
      `The edge with a spool beside it that has nothing to do, and without one, ${envelopeBytes} bytes an envelope. Filling: 2 KB an envelope, ` +
      `${CONNECTIONS} connections straight to a spool whose ingest is out, each answered after fsync.`,
    samples: { ...idle, filling },
    claims: [
      claim("edge with an idle spool / without, reports per CPU second", beside, without, "perCore", { atLeast: 0.98 }),
      claim("edge with an idle spool / without, reports per second", beside, without, "perSecond"),
      {
        text: "filling: envelopes per second",
        ratio: spread(filling.map(({ perSecond }) => perSecond)),
        goal: { atLeast: 2000 },
      },
    ],
  };
}
