import { MAX_WAIT_MS, spool, webToIngest, webToUpstream } from "../console/server-checks";
import type { Settings } from "../telemetry/settings/settings";
import { LivePath } from "./live-path";
import { PathDiagram, type Places } from "./path-diagram";

type Props = { settings: Settings; wait: boolean; throughProxy: boolean; sinceProxyMs: number | undefined };

/** Takes the settings, runs the server's checks (`wait`: until all have finished), and draws the paths of requests and events with their state. */
export async function RequestPath({ settings, wait, throughProxy, sinceProxyMs }: Props) {
  const waitMs = wait ? MAX_WAIT_MS : undefined;
  const checks = [webToIngest(waitMs), webToUpstream(waitMs), spool(waitMs)] as const;
  const [ingest, upstream, queue] = await Promise.all(checks);
  return (
    <LivePath
      places={places(settings)}
      server={{ ingest, upstream, spool: queue, telemetryOn: settings.dsn !== undefined, throughProxy, sinceProxyMs }}
      checkedAt={Date.now()}
    />
  );
}

/** Takes the settings and draws the paths before any check has finished. */
export function PathLoading({ settings }: { settings: Settings }) {
  return (
    <PathDiagram places={places(settings)} checks={undefined}>
      Checking the hops…
      <noscript>
        {" "}
        <a href="/?wait">Wait for the results</a>
      </noscript>
    </PathDiagram>
  );
}

function places({ dsn, tunnelPath, serverTunnel, upstreamUrl }: Settings): Places {
  return {
    tunnel: tunnelPath,
    throughProxy: serverTunnel !== undefined,
    ingest: dsn?.host ?? "not set",
    upstream: upstreamUrl.host,
  };
}
