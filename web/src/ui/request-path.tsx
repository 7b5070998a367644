import { MAX_WAIT_MS, serverChecks } from "../console/server-checks";
import type { Settings } from "../settings";
import { LivePath } from "./live-path";
import { PathDiagram, type Places } from "./path-diagram";

type Props = { settings: Settings; wait: boolean; throughProxy: boolean; sinceProxyMs: number | undefined };

/** Takes the settings, runs the server's checks (`wait`: until all have finished), and draws the paths of requests and events with their state. */
export async function RequestPath({ settings, wait, throughProxy, sinceProxyMs }: Props) {
  const checks = await serverChecks(wait ? MAX_WAIT_MS : undefined);
  const page = { telemetryOn: settings.dsn !== undefined, throughProxy, sinceProxyMs };
  return <LivePath places={places(settings)} page={page} first={checks} openedAt={Date.now()} />;
}

/** Takes the settings and draws the paths before any check has finished. */
export function PathLoading({ settings }: { settings: Settings }) {
  const note = (
    <noscript>
      <a href="/?wait">Wait for the results</a>
    </noscript>
  );
  return (
    <PathDiagram places={places(settings)} checks={undefined} summary={{ headline: "Checking the hops…", note }} />
  );
}

function places({ dsn, tunnelPath, serverTunnel, spoolUpstream, upstreamUrl }: Settings): Places {
  return {
    tunnel: tunnelPath ?? "none",
    throughProxy: serverTunnel !== undefined,
    spool: spoolUpstream !== undefined,
    ingest: dsn?.host ?? "not set",
    upstream: upstreamUrl.host,
  };
}
