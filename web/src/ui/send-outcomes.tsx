"use client";

import { noSendOutcomes, type SendOutcome, sendOutcomes, subscribe } from "@culvert/nextjs/outcomes";
import { useSyncExternalStore } from "react";
import styles from "./send-outcomes.module.css";
import { clock } from "./time";

type Props = { name: string; list: readonly SendOutcome[]; children: string };

/** Lists the send outcomes of this page's SDK since the page was loaded. */
export function BrowserSendOutcomes() {
  return (
    <SendOutcomes name="Sent by this browser" list={useSyncExternalStore(subscribe, sendOutcomes, noSendOutcomes)}>
      Nothing has been sent since this page was loaded.
    </SendOutcomes>
  );
}

/** Takes send outcomes, newest first, and lists them; its children are shown if there are none. */
export function SendOutcomes({ name, list, children }: Props) {
  if (list.length === 0) return <p className={styles.none}>{children}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={styles.scroll} aria-label={`Table: ${name}`} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            {["Time", "Contents", "Outcome", "Latency", "Event id", "Note"].map((column) => (
              <th scope="col" key={column}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {list.map(({ number, at, eventId, category, outcome, status, latencyMs, note }) => (
            <tr key={number}>
              <td>
                <time dateTime={new Date(at).toISOString()}>{clock(at)}</time>
              </td>
              <td>{category}</td>
              <td data-outcome={outcome}>
                {outcome}
                {status && ` ${status}`}
              </td>
              <td>{latencyMs === undefined ? "–" : `${latencyMs} ms`}</td>
              <td>
                <code>{eventId ?? "–"}</code>
              </td>
              <td>{note ?? "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
