import { runWrk, startAll, tunnelOf } from "./contenders.ts";
import { measure } from "./measure.ts";
import type { Options } from "./options.ts";
import type { Comparison } from "./results.ts";
import { inTurn, median, ratio } from "./statistics.ts";
import { withTestbed } from "./testbed.ts";
import { envelopeBytes } from "./workload.ts";

const CONNECTIONS = 32;
const NAMES = ["proxy", "bare", "caddy", "tunnel-route", "handler", "serve-tunnel"];

/** Envelopes per second through each tunnel: the proxy, a bare Nginx, Caddy, and the SDK's own three in an app. */
export async function tunnel({ rounds, seconds }: Options): Promise<Comparison> {
  const samples = await withTestbed(async (testbed) => {
    await startAll(testbed, NAMES, "tunnel");
    const contender = (name: string) => () =>
      measure(testbed, name, () => runWrk(testbed, "envelope", tunnelOf(name), CONNECTIONS, seconds));
    const all = NAMES.map((name) => [name, contender(name)] as const);
    for (const [, warmUp] of all) await warmUp();
    return inTurn(rounds, Object.fromEntries(all));
  });
  return {
    title: "Envelopes through the tunnel",
    how: `${envelopeBytes} bytes, ${CONNECTIONS} connections, HTTP/1.1, TLS; plain HTTP from the client to the last three. ${rounds} rounds of ${seconds} s.`,
    head: ["", "per CPU second", "proxy ÷ this"],
    rows: NAMES.map((name) => [name, median(samples[name] ?? []), ratio(samples.proxy ?? [], samples[name] ?? [])]),
  };
}
