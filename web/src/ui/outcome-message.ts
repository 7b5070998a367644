import type { Delivery } from "../telemetry/send/send-outcomes";

/** Takes a delivery and says what became of it, in one sentence. */
export function outcome({ outcome, eventId, category, status, latencyMs, note }: Delivery): string {
  const what = eventId ? `${category} ${eventId}` : category;
  const why = note ? `: ${note}` : "";
  if (outcome === "taken") return `Taken in ${latencyMs} ms (${what})${why}.`;
  if (outcome === "kept") return `Kept (${what})${why}.`;
  if (outcome === "refused") return `Refused with ${status} (${what})${why}.`;
  if (outcome === "no answer") return `No answer: is the proxy up? (${what})`;
  if (outcome === "held back") return `Held back by the SDK${why}.`;
  return `Not sent${why}.`;
}
