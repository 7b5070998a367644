"use client";

import { noSendOutcomes, type SendOutcome, sendOutcomes, subscribe } from "@culvert/nextjs/outcomes";
import { useState, useSyncExternalStore } from "react";
import { BROWSER_TEST_EVENTS, type BrowserTestEventName } from "../console/browser-test-events";

/** Takes the name of a test event; renders the button that sends it, and its outcome. */
export function BrowserTestEvent({ name }: { name: BrowserTestEventName }) {
  const { label, run, category } = BROWSER_TEST_EVENTS[name];
  const [after, setAfter] = useState<number>();
  const outcomes = useSyncExternalStore(subscribe, sendOutcomes, noSendOutcomes);
  // An envelope with an attachment has two categories.
  const isOwn = (sent: SendOutcome) => sent.number > (after ?? 0) && sent.category.startsWith(category);
  const outcome = outcomes.findLast(isOwn);
  return (
    <>
      <button
        type="button"
        onClick={() => {
          setAfter(outcomes[0]?.number ?? 0);
          run();
        }}
      >
        {label}
      </button>
      <output aria-label={`Outcome: ${label}`}>
        {after !== undefined && (outcome ? outcomeMessage(outcome) : "Passed to the SDK…")}
      </output>
    </>
  );
}

function outcomeMessage({ outcome, eventId, category, status, latencyMs, note }: SendOutcome): string {
  const contents = eventId ? `${category} ${eventId}` : category;
  const reason = note ? `: ${note}` : "";
  if (outcome === "accepted") return `Accepted in ${latencyMs} ms (${contents})${reason}.`;
  if (outcome === "queued") return `Queued (${contents})${reason}.`;
  if (outcome === "rejected") return `Rejected with ${status} (${contents})${reason}.`;
  if (outcome === "failed") return `Failed: is the proxy up? (${contents})`;
  if (outcome === "rate limited") return `Rate limited by the SDK${reason}.`;
  return `Not sent${reason}.`;
}
