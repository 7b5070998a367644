import type { SendOutcome } from "@culvert/nextjs/outcomes";

/** Takes a send outcome and returns it as one sentence. */
export function outcomeMessage({ outcome, eventId, category, status, latencyMs, note }: SendOutcome): string {
  const contents = eventId ? `${category} ${eventId}` : category;
  const reason = note ? `: ${note}` : "";
  if (outcome === "accepted") return `Accepted in ${latencyMs} ms (${contents})${reason}.`;
  if (outcome === "queued") return `Queued (${contents})${reason}.`;
  if (outcome === "rejected") return `Rejected with ${status} (${contents})${reason}.`;
  if (outcome === "failed") return `Failed: is the proxy up? (${contents})`;
  if (outcome === "rate limited") return `Rate limited by the SDK${reason}.`;
  return `Not sent${reason}.`;
}
