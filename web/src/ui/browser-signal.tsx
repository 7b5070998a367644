"use client";

import { useState, useSyncExternalStore } from "react";
import { SIGNALS, type SignalName } from "../console/browser-signals";
import { deliveries, noDeliveries, subscribe } from "../telemetry/deliveries";
import { outcome } from "./outcome";

/** Takes a signal's name; renders the button that sends it, and then what became of it. */
export function BrowserSignal({ name }: { name: SignalName }) {
  const { label, act, isMine } = SIGNALS[name];
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
