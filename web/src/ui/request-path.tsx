import { serverChecks } from "../console/server-checks";
import type { Settings } from "../settings";
import { LivePath } from "./live-path";
import { PathDiagram, type Places } from "./path-diagram";

type Props = { settings: Settings; throughProxy: boolean; sinceProxyMs: number | undefined };

/** Takes the settings, runs the server's checks, and draws the paths of requests and events with their state. */
export async function RequestPath({ settings, throughProxy, sinceProxyMs }: Props) {
  const checks = await serverChecks();
  const page = { telemetryOn: settings.dsn !== undefined, throughProxy, sinceProxyMs };
  return <LivePath places={places(settings)} page={page} first={checks} openedAt={Date.now()} />;
}

/** Draws the paths in the static shell, where neither settings nor checks are known. */
export function PathLoading() {
  const note = <noscript>The results need JavaScript.</noscript>;
  return <PathDiagram places={UNKNOWN} checks={undefined} summary={{ headline: "Checking the hops…", note }} />;
}

const UNKNOWN: Places = { tunnel: "…", throughProxy: true, spool: true, ingest: "…", upstream: "…" };

function places({ dsn, tunnelPath, serverTunnel, spoolUpstream, upstreamUrl }: Settings): Places {
  return {
    tunnel: tunnelPath ?? "none",
    throughProxy: serverTunnel !== undefined,
    spool: spoolUpstream !== undefined,
    ingest: dsn?.host ?? "not set",
    upstream: upstreamUrl.host,
  };
}
