"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { ActionTestEvent } from "./action-test-event";
import { BrowserTestEvent } from "./browser-test-event";
import { PolicyTestEvent } from "./policy-test-event";
import { RedirectButton } from "./redirect-button";
import { RouteTestEvent } from "./route-test-event";
import styles from "./test-events.module.css";
import { ThrowButton } from "./throw-button";

type Row = { title: string; expected: string; control: ReactNode };

/** Takes the tunnel path and lists the test events that the browser sends, each with the expected result. */
export function BrowserTestEvents({ tunnelPath }: { tunnelPath: string }) {
  return (
    <Rows
      rows={[
        {
          title: "Exception",
          expected: `One error event, posted to ${tunnelPath}. The page does not change.`,
          control: <BrowserTestEvent name="exception" />,
        },
        {
          title: "Unhandled rejection",
          expected: "One error event. The page does not change.",
          control: <BrowserTestEvent name="rejection" />,
        },
        {
          title: "Exception in a nested component",
          expected: "One error event. The error page offers a retry.",
          control: <ThrowButton />,
        },
        {
          title: "Filtered error",
          expected: "Nothing is sent: an event filter drops it.",
          control: <BrowserTestEvent name="filtered" />,
        },
        {
          title: "Oversized event",
          expected: "Rejected with 413: the limit is 20 MB.",
          control: <BrowserTestEvent name="oversized" />,
        },
        {
          title: "Log line",
          expected: "One log in the trace of this page.",
          control: <BrowserTestEvent name="log" />,
        },
        {
          title: "Web vital",
          expected: "The page freezes for 0.6 s. This delay (INP) is sent when you hide or leave the page.",
          control: <BrowserTestEvent name="vital" />,
        },
        {
          title: "Policy violation",
          expected: `The browser blocks an inline style and posts a CSP report to ${tunnelPath}/csp.`,
          control: <PolicyTestEvent />,
        },
        {
          title: "Redirect while rendering",
          expected: "Opens the trace page. No error event.",
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
          expected: "One error event. Status 500; the error page shows digest and ids.",
          control: <Go to="/test-events/server-exception" label="Throw on the server" />,
        },
        {
          title: "Exception on both sides",
          expected: "Thrown by the server and again by the browser, but one error event.",
          control: <Go to="/test-events/both-sides" label="Throw on both sides" />,
        },
        {
          title: "Exception in a Suspense boundary",
          expected: "Thrown on both sides in a part of a page that started with status 200: one error event.",
          control: <Go to="/test-events/in-suspense" label="Throw in a boundary" />,
        },
        {
          title: "Exception in the root layout",
          expected: "One error event. The error page replaces the layout; its retry works after four seconds.",
          control: <ActionTestEvent name="layout" />,
        },
        {
          title: "Exception in a route handler",
          expected: "One error event. Status 500.",
          control: <RouteTestEvent />,
        },
        {
          title: "Exception in a server action",
          expected: "One error event. The error page shows digest and ids.",
          control: <ActionTestEvent name="exception" />,
        },
        {
          title: "Redirect from an action",
          expected: "Opens the trace page. No error event.",
          control: <ActionTestEvent name="redirect" />,
        },
        {
          title: "Redirect while rendering",
          expected: "Opens the trace page. No error event.",
          control: <Go to="/test-events/redirect" label="Follow a redirect" />,
        },
        {
          title: "Not found",
          expected: "Status 404. Neither an error event nor a trace.",
          control: <Go to="/no-such-page" label="Open a missing page" />,
        },
        {
          title: "Exception after the response",
          expected: "One error event, after five seconds, even if the server is told to stop meanwhile.",
          control: <Go to="/test-events/after-response" label="Throw after the response" />,
        },
        {
          title: "Slow transaction",
          expected: "One transaction that takes 1.5 s.",
          control: <ActionTestEvent name="slow" />,
        },
        {
          title: "Outgoing call",
          expected: "The upstream receives the trace of this page.",
          control: <ActionTestEvent name="call" />,
        },
      ]}
    />
  );
}

function Rows({ rows }: { rows: Row[] }) {
  return (
    <ul className={styles.events}>
      {rows.map(({ title, expected, control }) => (
        <li className={styles.event} key={title}>
          <div>
            <h3>{title}</h3>
            <p>{expected}</p>
          </div>
          <div className={styles.control}>{control}</div>
        </li>
      ))}
    </ul>
  );
}

function Go({ to, label }: { to: string; label: string }) {
  // Not prefetched, because that would already trigger the event.
  return (
    <Link className="button" href={to} prefetch={false}>
      {label}
    </Link>
  );
}
