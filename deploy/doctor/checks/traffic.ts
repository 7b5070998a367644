import { type Facts, FORGED_CLIENT } from "../facts.ts";
import { failed, ok, type Result, unknown } from "../result.ts";
import { isLocal } from "./certificate.ts";

/** Clients send invalid envelopes, too, and the doctor itself sends one envelope that must be rejected. */
const MAX_BAD = 10;
const MAX_BAD_SHARE = 0.01;

/** Fewer requests say nothing about where clients come from. */
const MIN_REQUESTS = 20;

const privateAddress = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|127\.|f[cd]|fe80:)/;

/** Checks how tunnel requests ended in the last five minutes; `lastAccepted` is when the ingest last accepted one, if known. */
export function outcomes(list: Facts["outcomes"], lastAccepted = ""): Result[] {
  const check = "envelopes";
  const last = lastAccepted && `; the ingest last accepted one at ${lastAccepted}`;
  if (list.length === 0) return [unknown(check, `none in the last five minutes${last}`)];
  const text = summary(list);
  const bad = list.filter(({ outcome }) => outcome === "failed" || outcome === "rejected");
  const found = `last five minutes: ${text}${last}`;
  if (bad.length === 0) return [ok(check, found)];
  const reasons = [...new Set(bad.map(({ reason }) => reason || "none"))].join(", ");
  const own = reasons === "arguments" ? " (each run of the doctor sends one)" : "";
  const fix = `reasons: ${reasons}${own}; see "Troubleshooting" in docs/operations.md`;
  const total = (of: Facts["outcomes"]) => of.reduce((sum, { count }) => sum + count, 0);
  return [
    total(bad) > Math.max(MAX_BAD, total(list) * MAX_BAD_SHARE)
      ? failed(check, found, fix)
      : unknown(check, found, fix),
  ];
}

/** Tells of WebSocket handshakes outside WEBSOCKET_PATH: of the app itself, or of a scanner. */
export function upgrades([most]: Facts["upgrades"]): Result[] {
  if (!most) return [];
  const found = `last five minutes: the proxy refused ${most.count} handshakes at ${most.path}`;
  return [unknown("websocket", found, "if the app has a WebSocket there, set WEBSOCKET_PATH to that path")];
}

/** Returns how many ended how, such as "12 accepted, 1 queued". */
export function summary(list: Facts["outcomes"]): string {
  const totals = new Map<string, number>();
  for (const { outcome, count } of list) totals.set(outcome, (totals.get(outcome) ?? 0) + count);
  return [...totals]
    .sort((a, b) => b[1] - a[1])
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(", ");
}

/** Checks the client addresses that the proxy believes: no forged one, and not a load balancer's in place of everyone's. */
export function clientAddresses(
  { forged, clients }: Pick<Facts, "forged" | "clients">,
  settings: Record<string, string>,
): Result[] {
  const check = "client IP";
  // TUNNEL_CLIENT_IP=truncate cuts the last part off.
  if (forged && forged.split(".", 3).join(".") === FORGED_CLIENT.split(".", 3).join("."))
    return [failed(check, "a forged X-Forwarded-For is believed", "list only your load balancers in TRUSTED_PROXIES")];
  if (settings.TUNNEL_CLIENT_IP === "withhold") return [unknown(check, "not logged with TUNNEL_CLIENT_IP=withhold")];
  if (!forged) return [unknown(check, "the proxy did not log the request that was to show it")];
  const total = clients.reduce((sum, { count }) => sum + count, 0);
  const only = clients.length === 1 ? clients[0]?.address : undefined;
  if (isLocal(settings.SERVER_NAME || "localhost") || total < MIN_REQUESTS)
    return [ok(check, "a forged X-Forwarded-For is not believed")];
  if (only && privateAddress.test(only) && !settings.TRUSTED_PROXIES)
    return [
      failed(
        check,
        `all ${total} requests of the last five minutes seem to come from ${only}`,
        "name the load balancer in front in TRUSTED_PROXIES",
      ),
    ];
  return [ok(check, `${clients.length} clients in the last five minutes; a forged X-Forwarded-For is not believed`)];
}
