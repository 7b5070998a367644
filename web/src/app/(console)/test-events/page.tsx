import type { Metadata } from "next";
import { requireConsole } from "../../../console/guard";
import { deliveries } from "../../../telemetry/send/send-outcomes";
import { settings } from "../../../telemetry/settings/settings";
import { BrowserDeliveries } from "../../../ui/browser-send-outcomes";
import { RefreshLink } from "../../../ui/refresh-link";
import { Deliveries } from "../../../ui/send-outcomes";
import { BrowserTestEvents, ServerTestEvents } from "../../../ui/test-events";

export const metadata: Metadata = { title: "Test events" };

export default function TestEventsPage() {
  requireConsole();
  const { dsn, tunnelPath } = settings();
  return (
    <>
      <h1>Test events</h1>
      <p className="lead">
        One control for each kind of report. Each says what should happen; the lists below show what did.
        {!dsn && " Telemetry is off, because SENTRY_DSN is not set: nothing will be sent."}
      </p>
      <section aria-labelledby="browser">
        <h2 id="browser">In the browser</h2>
        <noscript>
          <p>These need JavaScript. The server’s, below, don’t.</p>
        </noscript>
        <BrowserTestEvents tunnelPath={tunnelPath} />
      </section>
      <section aria-labelledby="server">
        <h2 id="server">On the server</h2>
        <ServerTestEvents />
      </section>
      <section aria-labelledby="browser-sent">
        <h2 id="browser-sent">Sent by this browser</h2>
        <BrowserDeliveries />
      </section>
      <section aria-labelledby="server-sent">
        <div className="heading">
          <h2 id="server-sent">Sent by this server</h2>
          <RefreshLink href="/test-events">Look again</RefreshLink>
        </div>
        <Deliveries name="Sent by this server" list={deliveries()}>
          Nothing yet since this process started.
        </Deliveries>
      </section>
    </>
  );
}
