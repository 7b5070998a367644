"use client";

import Link from "next/link";
import { redirect } from "next/navigation";
import type { ComponentType, ReactNode } from "react";
import type { BrowserTestEventName } from "../console/browser-test-events";
import { type ActionName, ActionTestEvent } from "./action-test-event";
import { BrowserTestEvent } from "./browser-test-event";
import { PolicyTestEvent } from "./policy-test-event";
import { RenderButton } from "./render-button";
import { RouteTestEvent } from "./route-test-event";
import styles from "./test-events.module.css";

type Row = [title: string, expected: string, control: ReactNode];

const throwing = <RenderButton label="Throw in a component" act={throwInBrowser} />;
const redirecting = <RenderButton label="Redirect in the browser" act={() => redirect("/trace")} />;
const own = (Control: ComponentType) => <Control />;

function throwInBrowser(): never {
  throw new Error("Thrown on purpose while rendering in the browser");
}

/** Takes the tunnel path and lists the test events that the browser sends, each with the expected result. */
export function BrowserTestEvents({ tunnelPath }: { tunnelPath: string }) {
  const run = (name: BrowserTestEventName) => <BrowserTestEvent name={name} />;
  const page = "The page does not change.";
  const report = `The browser blocks an inline style and posts a CSP report to ${tunnelPath}/csp.`;
  const vital = "The page freezes for 0.6 s. This delay (INP) is sent when you hide or leave the page.";
  return (
    <Rows
      rows={[
        ["Exception", `One error event, posted to ${tunnelPath}. ${page}`, run("exception")],
        ["Unhandled rejection", `One error event. ${page}`, run("rejection")],
        ["Exception in a nested component", "One error event. The error page offers a retry.", throwing],
        ["Filtered error", "Nothing is sent: an event filter drops it.", run("filtered")],
        ["Oversized event", "Rejected with 413: the limit is 20 MB.", run("oversized")],
        ["Log line", "One log in the trace of this page.", run("log")],
        ["Web vital", vital, run("vital")],
        ["Policy violation", report, own(PolicyTestEvent)],
        ["Redirect while rendering", TO_TRACE, redirecting],
      ]}
    />
  );
}

const TO_TRACE = "Opens the trace page. No error event.";
const IN_LAYOUT = "One error event. The error page replaces the layout; its retry works after four seconds.";
const BOTH = "Thrown by the server and again by the browser, but one error event.";
const IN_SUSPENSE = "Thrown on both sides in a part of a page that started with status 200: one error event.";
const AFTER = "One error event, after five seconds, even if the server is told to stop meanwhile.";

const act = (name: ActionName) => <ActionTestEvent name={name} />;
const go = (to: string, label: string) => (
  // Not prefetched, because that would already trigger the event.
  <Link className="button" href={to} prefetch={false}>
    {label}
  </Link>
);
const at = (page: string, label: string) => go(`/test-events/${page}`, label);

/** Lists the test events that the server sends; each works without JavaScript. */
export function ServerTestEvents() {
  const shown = "One error event. Status 500; the error page shows digest and ids.";
  return (
    <Rows
      rows={[
        ["Exception while rendering", shown, at("server-exception", "Throw on the server")],
        ["Exception on both sides", BOTH, at("both-sides", "Throw on both sides")],
        ["Exception in a Suspense boundary", IN_SUSPENSE, at("in-suspense", "Throw in a boundary")],
        ["Exception in the root layout", IN_LAYOUT, act("layout")],
        ["Exception in a route handler", "One error event. Status 500.", own(RouteTestEvent)],
        ["Exception in a server action", "One error event. The error page shows digest and ids.", act("exception")],
        ["Redirect from an action", TO_TRACE, act("redirect")],
        ["Redirect while rendering", TO_TRACE, at("redirect", "Follow a redirect")],
        ["Not found", "Status 404. Neither an error event nor a trace.", go("/no-such-page", "Open a missing page")],
        ["Exception after the response", AFTER, at("after-response", "Throw after the response")],
        ["Slow transaction", "One transaction that takes 1.5 s.", act("slow")],
        ["Outgoing call", "The upstream receives the trace of this page.", act("call")],
      ]}
    />
  );
}

function Rows({ rows }: { rows: Row[] }) {
  return (
    <ul className={styles.events}>
      {rows.map(([title, expected, control]) => (
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
