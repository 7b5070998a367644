import { PATIENT_MS, spool, webToIngest, webToUpstream } from "../console/server-checks";
import type { Settings } from "../telemetry/settings/settings";
import { LivePath } from "./live-path";
import { PathDiagram, type Places } from "./path-diagram";

type Props = { settings: Settings; wait: boolean; throughProxy: boolean; sinceProxyMs: number | undefined };

/** Takes the settings, asks what only the server can ask (`wait`: until all have answered), and draws the way of requests and reports with its live state. */
export async function RequestPath({ settings, wait, throughProxy, sinceProxyMs }: Props) {
  const patience = wait ? PATIENT_MS : undefined;
  const asked = [webToIngest(patience), webToUpstream(patience), spool(patience)] as const;
  const [ingest, upstream, waiting] = await Promise.all(asked);
  return (
    <LivePath
      places={places(settings)}
      server={{ ingest, upstream, spool: waiting, reporting: settings.dsn !== undefined, throughProxy, sinceProxyMs }}
      checkedAt={Date.now()}
    />
  );
}

/** Takes the settings and draws the way before anything is known of it. */
export function PathLoading({ settings }: { settings: Settings }) {
  return (
    <PathDiagram places={places(settings)} checks={undefined}>
      Asking the hops…
      <noscript>
        {" "}
        <a href="/?wait">Wait for their answers</a>
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
