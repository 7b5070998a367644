import type { OutagePhase } from "../lib/client.ts";

/** Time around the start and end of an outage in which the tunnel is not checked, because the switch is not exact. */
const TRANSITION_SECONDS = 5;

/** The phase at a moment of the outage profile: the ingest is down for the middle third of the plateau. */
export function outagePhase(elapsedSeconds: number, plateauSeconds: number): OutagePhase {
  const sinceStart = elapsedSeconds - plateauSeconds / 3;
  const sinceEnd = elapsedSeconds - (2 * plateauSeconds) / 3;
  if (Math.abs(sinceStart) < TRANSITION_SECONDS || (sinceEnd >= 0 && sinceEnd < TRANSITION_SECONDS))
    return "transition";
  return sinceStart < 0 ? "before" : sinceEnd < 0 ? "down" : "after";
}
