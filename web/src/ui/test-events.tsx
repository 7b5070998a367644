import Link from "next/link";
import type { ReactNode } from "react";
import { ActionTestEvent } from "./action-test-event";
import { BrowserTestEvent } from "./browser-test-event";
import { PolicyTestEvent } from "./policy-test-event";
import { RedirectButton } from "./redirect-button";
import { RouteTestEvent } from "./route-test-event";
import styles from "./test-events.module.css";
import { ThrowButton } from "./throw-button";

type Row = { title: string; expect: string; control: ReactNode };

/** Takes the tunnel path and lists the test events that the browser sends, each with what should happen. */
export function BrowserTestEvents({ tunnelPath }: { tunnelPath: string }) {
  return (
    <Rows
      rows={[
        {
          title: "Exception",
          expect: `One report, posted to ${tunnelPath}. The page stays as it is.`,
          control: <BrowserTestEvent name="exception" />,
        },
        {
          title: "Unhandled rejection",
          expect: "One report. The page stays as it is.",
          control: <BrowserTestEvent name="rejection" />,
        },
        {
          title: "Exception in a nested component",
          expect: "One report. The error page offers a retry.",
          control: <ThrowButton />,
        },
        {
          title: "Noise",
          expect: "No report: the list of noise knows it.",
          control: <BrowserTestEvent name="noise" />,
        },
        {
          title: "Oversized event",
          expect: "Refused with 413: a report is 20 MB at most.",
          control: <BrowserTestEvent name="oversized" />,
        },
        {
          title: "Log line",
          expect: "One log, to be found by the trace of this page.",
          control: <BrowserTestEvent name="log" />,
        },
        {
          title: "Web vital",
          expect: "The page hangs for 0.6 s. That delay (INP) is reported when you hide or leave the page.",
          control: <BrowserTestEvent name="vital" />,
        },
        {
          title: "Policy violation",
          expect: `The browser blocks an inline style and reports that to ${tunnelPath}/csp.`,
          control: <PolicyTestEvent />,
        },
        {
          title: "Redirect while rendering",
          expect: "Ends on the trace page. Nothing is reported.",
          control: <RedirectButton />,
        },
      ]}
    />
  );
}

/** Lists the test events that the server sends; each works without JavaScript. */
export function ServerTestEvents() {
  return (
    <Rows
      rows={[
        {
          title: "Exception while rendering",
          expect: "One report. Status 500; the error page shows digest and ids.",
          control: <Go to="/test-events/server-exception" label="Throw on the server" />,
        },
        {
          title: "Exception on both sides",
          expect: "Thrown by the server and again by the browser: still one report.",
          control: <Go to="/test-events/both-sides" label="Throw on both sides" />,
        },
        {
          title: "Exception in a part of a page",
          expect: "Thrown in a Suspense boundary, on both sides: one report, although the page began with status 200.",
          control: <Go to="/test-events/in-suspense" label="Throw in a part" />,
        },
        {
          title: "Exception in the root layout",
          expect: "One report. The error page stands alone; it lasts four seconds, then its retry works.",
          control: <ActionTestEvent name="layout" />,
        },
        {
          title: "Exception in a route handler",
          expect: "One report. Status 500.",
          control: <RouteTestEvent />,
        },
        {
          title: "Exception in a server action",
          expect: "One report. The error page shows digest and ids.",
          control: <ActionTestEvent name="exception" />,
        },
        {
          title: "Redirect from an action",
          expect: "Ends on the trace page. Nothing is reported.",
          control: <ActionTestEvent name="redirect" />,
        },
        {
          title: "Redirect while rendering",
          expect: "Ends on the trace page. Nothing is reported.",
          control: <Go to="/test-events/redirect" label="Follow a redirect" />,
        },
        {
          title: "Not found",
          expect: "Status 404. Neither error nor trace is reported.",
          control: <Go to="/no-such-page" label="Open a missing page" />,
        },
        {
          title: "Slow transaction",
          expect: "One transaction that takes 1.5 s.",
          control: <ActionTestEvent name="slow" />,
        },
        {
          title: "Outgoing call",
          expect: "The upstream is sent the trace of this page.",
          control: <ActionTestEvent name="call" />,
        },
      ]}
    />
  );
}

function Rows({ rows }: { rows: Row[] }) {
  return (
    <ul className={styles.events}>
      {rows.map(({ title, expect, control }) => (
        <li className={styles.event} key={title}>
          <div>
            <h3>{title}</h3>
            <p>{expect}</p>
          </div>
          <div className={styles.control}>{control}</div>
        </li>
      ))}
    </ul>
  );
}

function Go({ to, label }: { to: string; label: string }) {
  // Not prefetched: what it shows would have happened before anyone asked for it.
  return (
    <Link className="button" href={to} prefetch={false}>
      {label}
    </Link>
  );
}
