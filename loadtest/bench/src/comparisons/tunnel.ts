import { type Bench, claim } from "../bench.ts";
import { type Contender, tunnelOf } from "../contenders.ts";
import { h2Envelopes } from "../load.ts";
import { type Comparison, throughput } from "../markdown.ts";
import { envelopeBytes } from "../workload.ts";

/** Envelopes per second through each tunnel: the SDK's own, the bare Nginx, and two other proxies. */
export async function tunnel(bench: Bench): Promise<Comparison> {
  const { connections, seconds } = bench.options;
  const plan = (name: Contender) => ({
    ...{ charged: [name], mustArrive: true },
    run: () => bench.wrk("envelope", tunnelOf(name), connections),
  });
  const h2 = (name: Contender) => ({
    ...{ charged: [name], mustArrive: true },
    run: () => bench.h2load(h2Envelopes(tunnelOf(name), seconds), seconds),
  });
  const samples = await bench.compare({
    proxy: plan("proxy"),
    bare: plan("bare"),
    haproxy: plan("haproxy"),
    caddy: plan("caddy"),
    "tunnel-route": plan("tunnel-route"),
    "proxy, HTTP/2": h2("proxy"),
    "bare, HTTP/2": h2("bare"),
    "haproxy, HTTP/2": h2("haproxy"),
    "caddy, HTTP/2": h2("caddy"),
  });
  const beside = (name: Exclude<keyof typeof samples, "proxy">, of: "proxy" | "proxy, HTTP/2" = "proxy") =>
    claim(`${of} / ${name}, envelopes per CPU second`, samples[of], samples[name], "perCpuSecond");
  return {
    title: "Envelopes through the tunnel",
    how:
      `${envelopeBytes} bytes an envelope, ${connections} connections, TLS to the sink. TLS from the client as well, except for tunnel-route, ` +
      "which uses plain HTTP and saves its cost.",
    samples,
    columns: throughput,
    chart: ["perCpuSecond", "envelopes per second of processor time"],
    claims: [
      ...[beside("tunnel-route"), beside("bare"), beside("haproxy"), beside("caddy")],
      ...[beside("bare, HTTP/2", "proxy, HTTP/2"), beside("haproxy, HTTP/2", "proxy, HTTP/2")],
      beside("caddy, HTTP/2", "proxy, HTTP/2"),
    ],
  };
}
