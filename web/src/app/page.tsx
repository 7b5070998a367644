import { headers } from "next/headers";
import { settings } from "../telemetry/settings";
import { Facts } from "../ui/facts";
import { RequestPath } from "../ui/request-path";
import { Signals } from "../ui/signals";

export default async function OverviewPage() {
  const requestId = (await headers()).get("x-request-id");
  const current = settings();
  return (
    <>
      <h1>This deployment is up</h1>
      <p className="lead">
        The server made this page for this very request. Send a signal below: it arrives at your ingest, or stays quiet
        where it should.
      </p>
      <Facts
        facts={[
          { name: "Release", value: current.release ?? "not set" },
          { name: "Environment", value: current.environment },
          { name: "Request id", value: requestId ?? "none: no proxy in front" },
          { name: "Rendered at", value: new Date().toISOString(), time: true },
          { name: "Reports go to", value: current.dsn ? current.tunnelPath : "nowhere: SENTRY_DSN is not set" },
          { name: "Traces recorded", value: current.dsn ? `${current.tracesSampleRate * 100} %` : "none" },
        ]}
      />
      <RequestPath settings={current} />
      <Signals tunnelPath={current.tunnelPath} />
    </>
  );
}
