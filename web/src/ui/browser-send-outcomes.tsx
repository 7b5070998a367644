"use client";

import { noSendOutcomes, sendOutcomes, subscribe } from "@culvert/nextjs/outcomes";
import { useSyncExternalStore } from "react";
import { SendOutcomes } from "./send-outcomes";

/** Lists the send outcomes of this page's SDK since the page was loaded. */
export function BrowserSendOutcomes() {
  const list = useSyncExternalStore(subscribe, sendOutcomes, noSendOutcomes);
  return (
    <SendOutcomes name="Sent by this browser" list={list}>
      Nothing has been sent since this page was loaded.
    </SendOutcomes>
  );
}
