import { runWrk, startAll, tunnelOf } from "./contenders.ts";
import { measure } from "./measure.ts";
import type { Options } from "./options.ts";
import type { Comparison } from "./results.ts";
import { inTurn, median, ratio } from "./statistics.ts";
import { withTestbed } from "./testbed.ts";
import { envelopeBytes } from "./workload.ts";

const CONNECTIONS = 32;
const NAMES = ["proxy", "bare", "caddy", "tunnel-route", "handler", "serve-tunnel"] as const;

/** Envelopes per second through each tunnel: the proxy, a bare Nginx, Caddy, and the SDK's own three in an app. */
export async function tunnel({ rounds, seconds }: Options): Promise<Comparison> {
  const samples = await withTestbed(async (testbed) => {
    await startAll(testbed, [...NAMES], "tunnel");
    const contender = (name: string) => () =>
      measure(testbed, {
        ...{ charged: [name], mustArrive: true },
        run: () => runWrk(testbed, "envelope", tunnelOf(name), CONNECTIONS, seconds),
      });
    const all = NAMES.map((name) => [name, contender(name)] as const);
    for (const [, warmUp] of all) await warmUp();
    return inTurn(rounds, Object.fromEntries(all));
  });
  const of = (name: string, key: "perCpuSecond" | "perSecond" | "p50" | "p99") =>
    (samples[name] ?? []).map((sample) => sample[key]);
  return {
    title: "Envelopes through the tunnel",
    how:
      `${envelopeBytes} bytes an envelope, ${CONNECTIONS} connections, HTTP/1.1, TLS to the sink and from the client; plain HTTP ` +
      `from the client to the last three. Medians of ${rounds} rounds in turn, ${seconds} s each.`,
    head: ["", "per CPU second", "per second", "p50 ms", "p99 ms", "proxy ÷ this"],
    rows: NAMES.map((name) => [
      name,
      ...[median(of(name, "perCpuSecond")), median(of(name, "perSecond"))],
      ...[median(of(name, "p50")), median(of(name, "p99"))],
      ratio(of("proxy", "perCpuSecond"), of(name, "perCpuSecond")),
    ]),
    chart: 1,
  };
}
