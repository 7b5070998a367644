import { requestIdOf } from "@culvert/nextjs/errors";
import { headers } from "next/headers";
import { Suspense } from "react";
import { requireConsole } from "../../console/guard";
import { sinceProxy } from "../../console/since-proxy";
import { settings } from "../../settings";
import { BrowserTestEvent } from "../../ui/browser-test-event";
import { Facts } from "../../ui/facts";
import { PathLoading, RequestPath } from "../../ui/request-path";
import { duration, utc } from "../../ui/time";

export default function OverviewPage() {
  return (
    <Suspense fallback={<PathLoading />}>
      <Overview />
    </Suspense>
  );
}

async function Overview() {
  await requireConsole();
  const head = await headers();
  const sinceProxyMs = sinceProxy(head, Date.now());
  const requestId = requestIdOf(head);
  const current = settings();
  const { dsn } = current;
  const now = new Date().toISOString();
  const renderedAt = <time dateTime={now}>{utc(now)}</time>;
  return (
    <>
      <RequestPath settings={current} throughProxy={requestId !== undefined} sinceProxyMs={sinceProxyMs} />
      <div className="control">
        <BrowserTestEvent name="exception" />
      </div>
      <section aria-labelledby="facts">
        <h2 id="facts">What is running</h2>
        <Facts
          facts={[
            ["Release", current.release ?? "not set"],
            ["Environment", current.environment],
            ["Region", current.region ?? "not set"],
            ["Up for", duration(process.uptime())],
            ["Request id", requestId ?? "none: no proxy in front"],
            ["Rendered at", renderedAt],
            ["Events are sent to", dsn ? (current.tunnelPath ?? dsn.host) : "nowhere: SENTRY_DSN is not set"],
            ["Traces recorded", dsn ? `${current.tracesSampleRate * 100} %` : "none"],
          ]}
        />
      </section>
    </>
  );
}
