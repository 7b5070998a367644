"use client";

import { useSyncExternalStore } from "react";
import { type Delivery, latestDelivery, subscribeDeliveries } from "../telemetry/deliveries";

/** Takes the tunnel path; renders a button whose click throws, and then what became of the report. */
export function ThrowButton({ tunnelPath }: { tunnelPath: string }) {
  const delivery = useSyncExternalStore(subscribeDeliveries, latestDelivery, () => undefined);
  return (
    <>
      <button type="button" onClick={throwInBrowser}>
        Throw in the browser
      </button>
      <output aria-label="Delivery">{delivery && outcome(delivery, tunnelPath)}</output>
    </>
  );
}

function throwInBrowser(): never {
  throw new Error("Thrown on purpose in the browser");
}

function outcome({ eventId, status }: Delivery, tunnelPath: string) {
  if (status === undefined) return `No answer from ${tunnelPath}: is the proxy up?`;
  if (status < 300) return `Report ${eventId} was accepted.`;
  return `Report ${eventId} was refused: ${tunnelPath} answers ${status}.`;
}
