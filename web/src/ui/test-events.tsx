"use client";

import Link from "next/link";
import { redirect } from "next/navigation";
import { type ComponentType, type ReactNode, useState } from "react";
import type { BrowserTestEventName } from "../console/browser-test-events";
import { type ActionName, ActionTestEvent } from "./action-test-event";
import { BrowserTestEvent } from "./browser-test-event";
import { PolicyTestEvent } from "./policy-test-event";
import { RouteTestEvent } from "./route-test-event";
import styles from "./test-events.module.css";

type Row = [control: ReactNode, expected: string];

const render = (Control: ComponentType) => <Control />;
const run = (name: BrowserTestEventName) => <BrowserTestEvent name={name} />;
const act = (name: ActionName) => <ActionTestEvent name={name} />;
const open = (page: string, label: string) => (
  // Not prefetched, because that would already trigger the event.
  <Link className="button" href={page} prefetch={false}>
    {label}
  </Link>
);
const throwing = <RenderButton label="Throw in a component" act={throwInBrowser} />;
const redirecting = <RenderButton label="Redirect in the browser" act={() => redirect("/trace")} />;

function throwInBrowser(): never {
  throw new Error("Thrown on purpose while rendering in the browser");
}

/** Takes the tunnel path and lists the test events that the browser sends, each with the expected result. */
export function BrowserTestEvents({ tunnelPath }: { tunnelPath: string }) {
  const errors: Row[] = [
    [run("exception"), `One error event, posted to ${tunnelPath}. The page does not change.`],
    [run("rejection"), "One error event. The page does not change."],
    [throwing, "One error event. The error page offers a retry."],
    [run("filtered"), "Nothing is sent: an event filter drops it."],
    [run("oversized"), "Rejected with 413: the limit is 20 MB."],
  ];
  const others: Row[] = [
    [run("log"), "One log in the trace of this page."],
    [run("vital"), "The page freezes for 0.6 s. This delay (INP) is sent when you hide or leave the page."],
    [render(PolicyTestEvent), `The browser blocks an inline style and posts a CSP report to ${tunnelPath}/csp.`],
    [redirecting, "A component redirects to the trace page. No error event."],
  ];
  return (
    <>
      <Group name="Errors" rows={errors} />
      <Group name="Logs, vitals, CSP, redirects" rows={others} />
    </>
  );
}

const SERVER_ERRORS: Row[] = [
  [open("/test-events/server-exception", "Throw on the server"), "One error event. The error page has digest and ids."],
  [open("/test-events/both-sides", "Throw on both sides"), "One error event, although both sides throw."],
  [open("/test-events/in-suspense", "Throw in a boundary"), "One error event, of a part of a page."],
  [act("layout"), "One error event. The error page replaces the layout; its retry works after four seconds."],
  [render(RouteTestEvent), "One error event. Status 500."],
  [act("exception"), "One error event. The error page shows digest and ids."],
  [
    open("/test-events/after-response", "Throw after the response"),
    "One error event, after five seconds, even if the server is told to stop meanwhile.",
  ],
];

const SERVER_OTHERS: Row[] = [
  [act("slow"), "One transaction that takes 1.5 s."],
  [act("call"), "The upstream receives the trace of this page."],
  [act("redirect"), "The action redirects to the trace page. No error event."],
  [open("/test-events/redirect", "Follow a redirect"), "The page redirects to the trace page. No error event."],
  [open("/no-such-page", "Open a missing page"), "Status 404. Neither an error event nor a trace."],
];

/** Lists the test events that the server sends; each works without JavaScript. */
export function ServerTestEvents() {
  return (
    <>
      <Group name="Errors" rows={SERVER_ERRORS} />
      <Group name="Transactions, redirects, 404" rows={SERVER_OTHERS} />
    </>
  );
}

/** Renders a button. After a click, `act` runs while this component renders, as a bug in a client component would. */
function RenderButton({ label, act }: { label: string; act: () => never }) {
  const [isClicked, setClicked] = useState(false);
  if (isClicked) act();
  return (
    <button type="button" onClick={() => setClicked(true)}>
      {label}
    </button>
  );
}

function Group({ name, rows }: { name: string; rows: Row[] }) {
  return (
    <details className={styles.group}>
      <summary>{name}</summary>
      <ul>
        {rows.map(([control, expected]) => (
          <li className={styles.row} key={expected}>
            {control}
            <p>{expected}</p>
          </li>
        ))}
      </ul>
    </details>
  );
}
