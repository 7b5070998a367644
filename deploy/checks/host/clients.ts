import { isLocal } from "../certificate.ts";
import { defaults } from "../defaults.ts";
import { TRACE_PREFIX } from "../ingest.ts";
import { failed, type Result } from "../result.ts";
import { type Facts, list } from "./facts.ts";

/** Fewer requests say nothing about clients. */
const MIN_REQUESTS = 20;
const privateAddress = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|f[cd]|fe80:)/;

/** Checks that TRUSTED_PROXIES names the load balancer in front, and nobody else. */
export function clients({ log, containers }: Facts, settings: Record<string, string>): Result[] {
  const trusted = list(settings.TRUSTED_PROXIES);
  // fc00::/7 is the widest network that is private.
  const isWide = (network: string) => Number(network.split("/")[1] ?? 32) < (network.includes(":") ? 7 : 8);
  const wide = trusted.filter(isWide).join(", ");
  const forged = `TRUSTED_PROXIES has ${wide}: any client can forge its IP, host and scheme`;
  if (wide) return [failed("client IP", forged, "list only your load balancers")];
  const isPlain = settings.TUNNEL_CLIENT_IP !== "withhold" && !isLocal(settings.SERVER_NAME || defaults.SERVER_NAME);
  if (trusted.length > 0 || !isPlain) return [];
  // Containers and the proxy are no clients. Clients may have a gateway's address.
  const networks = containers.flatMap(({ NetworkSettings }) => Object.values(NetworkSettings.Networks));
  const isContainer = (address: string) =>
    address.startsWith("127.") ||
    networks.some(({ Gateway }) => Gateway && address !== Gateway && address.startsWith(Gateway.replace(/\d+$/, "")));
  const addresses = log
    .filter(({ outcome, trace_id }) => !outcome && !trace_id?.startsWith(TRACE_PREFIX))
    .flatMap(({ client }) => (client && !isContainer(client) ? client : []));
  const different = [...new Set(addresses)];
  const areInner = different.length <= 2 && different.every((address) => privateAddress.test(address));
  if (addresses.length < MIN_REQUESTS || !areInner) return [];
  const found = `all ${addresses.length} requests of the last five minutes come from ${different.join(" and ")}`;
  // To trust it would mean to believe every client.
  if (different.every((address) => networks.some(({ Gateway }) => Gateway === address))) {
    const hidden = `${found}, the gateway of a Docker network: clients come by IPv6, or the engine is rootless`;
    const fix = "docs/operations.md, IPv6. A program of this host in front: deploy/front/http.yml";
    return [failed("client IP", hidden, fix)];
  }
  return [failed("client IP", found, "name the load balancer in front in TRUSTED_PROXIES")];
}
