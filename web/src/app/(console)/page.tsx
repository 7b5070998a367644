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

type Props = { searchParams: Promise<{ wait?: string }> };

export default async function OverviewPage({ searchParams }: Props) {
  requireConsole();
  const head = await headers();
  const sinceProxyMs = sinceProxy(head, Date.now());
  const requestId = requestIdOf(head);
  const wait = (await searchParams).wait !== undefined;
  const current = settings();
  const { dsn } = current;
  const now = new Date().toISOString();
  const renderedAt = <time dateTime={now}>{utc(now)}</time>;
  const path = (
    <RequestPath settings={current} wait={wait} throughProxy={requestId !== undefined} sinceProxyMs={sinceProxyMs} />
  );
  return (
    <>
      {/* Streamed parts need JavaScript, so without it users can request a page that waits for them. */}
      {wait ? path : <Suspense fallback={<PathLoading settings={current} />}>{path}</Suspense>}
      <div className="scripted">
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
