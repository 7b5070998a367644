import { sendOutcomes } from "@culvert/nextjs/outcomes";
import type { Metadata } from "next";
import { requireConsole } from "../../../console/guard";
import { settings } from "../../../settings";
import { RefreshLink } from "../../../ui/refresh-link";
import { BrowserSendOutcomes, SendOutcomes } from "../../../ui/send-outcomes";
import { BrowserTestEvents, ServerTestEvents } from "../../../ui/test-events";

export const metadata: Metadata = { title: "Test events" };

export default async function TestEventsPage() {
  await requireConsole();
  const { dsn, tunnelPath } = settings();
  return (
    <>
      <h1>Test events</h1>
      <p className="lead">
        One control for each kind of event, with the expected result. The lists below show the actual outcomes.
        {!dsn && " Telemetry is off, because SENTRY_DSN is not set: nothing will be sent."}
      </p>
      <section aria-labelledby="browser">
        <h2 id="browser">In the browser</h2>
        <noscript>
          <p>These need JavaScript. The controls of the server, below, do not.</p>
        </noscript>
        <BrowserTestEvents tunnelPath={tunnelPath ?? "the ingest"} />
      </section>
      <section aria-labelledby="server">
        <h2 id="server">On the server</h2>
        <ServerTestEvents />
      </section>
      <section aria-labelledby="browser-sent">
        <h2 id="browser-sent">Sent by this browser</h2>
        <BrowserSendOutcomes />
      </section>
      <section aria-labelledby="server-sent">
        <div className="heading">
          <h2 id="server-sent">Sent by this server</h2>
          <RefreshLink href="/test-events">Refresh</RefreshLink>
        </div>
        <SendOutcomes name="Sent by this server" list={sendOutcomes()}>
          Nothing has been sent since this process started.
        </SendOutcomes>
      </section>
    </>
  );
}
