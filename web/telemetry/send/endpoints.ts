import type { Settings } from "../settings/settings.js";

/** An address that accepts this server's envelopes, the headers that it needs, and whether its name may have several addresses. */
export type Endpoint = { url: URL; headers: Record<string, string>; hasReplicas?: boolean };

/**
 * Returns the endpoints in the order in which they are tried: the proxy, which passes envelopes to the ingest or the spool; and, while there is no
 * proxy (it starts after this server, and stops before it), the spool itself. Empty without SERVER_TUNNEL: then the SDK sends to the ingest.
 */
export function serverEndpoints({ dsn, serverTunnel, spoolUpstream }: Settings): Endpoint[] {
  if (!serverTunnel || !dsn) return [];
  const proxy = { url: serverTunnel, headers: {} };
  if (!spoolUpstream) return [proxy];
  return [proxy, { url: spoolUpstream, headers: { "x-spool-destination": dsn.envelopeUrl }, hasReplicas: true }];
}
