"use client";

import { useState, useSyncExternalStore } from "react";
import { BROWSER_TEST_EVENTS, type BrowserTestEventName } from "../console/browser-test-events";
import { deliveries, noDeliveries, subscribe } from "../telemetry/send/send-outcomes";
import { outcome } from "./outcome-message";

/** Takes the name of a test event; renders the button that sends it, and then what became of it. */
export function BrowserTestEvent({ name }: { name: BrowserTestEventName }) {
  const { label, act, isMine } = BROWSER_TEST_EVENTS[name];
  const [after, setAfter] = useState<number>();
  const seen = useSyncExternalStore(subscribe, deliveries, noDeliveries);
  const mine = after !== undefined && seen.findLast((delivery) => delivery.number > after && isMine(delivery));
  return (
    <>
      <button
        type="button"
        onClick={() => {
          setAfter(seen[0]?.number ?? 0);
          act();
        }}
      >
        {label}
      </button>
      <output aria-label={`Outcome: ${label}`}>
        {after !== undefined && (mine ? outcome(mine) : "Sent to the SDK…")}
      </output>
    </>
  );
}
