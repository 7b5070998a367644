import { requestIdOf } from "@culvert/nextjs/errors";
import { headers } from "next/headers";
import { Suspense } from "react";
import { requireConsole } from "../../console/guard";
import { sinceProxy } from "../../console/since-proxy";
import { settings } from "../../settings";
import { BrowserTestEvent } from "../../ui/browser-test-event";
import { Facts } from "../../ui/facts";
import { PathLoading, RequestPath } from "../../ui/request-path";
import { duration } from "../../ui/time";
import { checkAgain } from "./actions";

type Props = { searchParams: Promise<{ wait?: string }> };

export default async function OverviewPage({ searchParams }: Props) {
  requireConsole();
  const head = await headers();
  const sinceProxyMs = sinceProxy(head, Date.now());
  const requestId = requestIdOf(head);
  const wait = (await searchParams).wait !== undefined;
  const current = settings();
  const path = (
    <RequestPath settings={current} wait={wait} throughProxy={requestId !== undefined} sinceProxyMs={sinceProxyMs} />
  );
  return (
    <>
      <h1>This deployment is up</h1>
      <p className="lead">
        The server rendered this page for this request. It shows whether each hop of the request path responds, and what
        is running.
      </p>
      <section aria-labelledby="path">
        <div className="heading">
          <h2 id="path">Request path</h2>
          <form action={checkAgain}>
            <button type="submit">Check again</button>
          </form>
        </div>
        <div className="scripted">
          <BrowserTestEvent name="exception" />
        </div>
        {/* Streamed parts need JavaScript, so without it users can request a page that waits for them. */}
        {wait ? path : <Suspense fallback={<PathLoading settings={current} />}>{path}</Suspense>}
      </section>
      <section aria-labelledby="facts">
        <h2 id="facts">What is running</h2>
        <Facts
          facts={[
            { name: "Release", value: current.release ?? "not set" },
            { name: "Environment", value: current.environment },
            { name: "Region", value: current.region ?? "not set" },
            { name: "Up for", value: duration(process.uptime()) },
            { name: "Request id", value: requestId ?? "none: no proxy in front" },
            { name: "Rendered at", value: new Date().toISOString(), time: true },
            {
              name: "Events are sent to",
              value: current.dsn ? (current.tunnelPath ?? current.dsn.host) : "nowhere: SENTRY_DSN is not set",
            },
            { name: "Traces recorded", value: current.dsn ? `${current.tracesSampleRate * 100} %` : "none" },
          ]}
        />
      </section>
    </>
  );
}
