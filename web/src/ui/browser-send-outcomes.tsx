"use client";

import { useSyncExternalStore } from "react";
import { deliveries, noDeliveries, subscribe } from "../telemetry/send/send-outcomes";
import { Deliveries } from "./send-outcomes";

/** Lists what this page's SDK has sent since the page was loaded. */
export function BrowserDeliveries() {
  const list = useSyncExternalStore(subscribe, deliveries, noDeliveries);
  return (
    <Deliveries name="Sent by this browser" list={list}>
      Nothing yet since this page was loaded.
    </Deliveries>
  );
}
