import { shared } from "../once.js";

/** What happened to one envelope, or to an error that an event filter dropped before it became one. */
export type SendOutcome = {
  /** Counts up; the newest has the highest. */
  number: number;
  /** When it was sent, in milliseconds since 1970. */
  at: number;
  eventId: string | undefined;
  /** Sentry's name for the contents: error, transaction, session, log … */
  category: string;
  /** "accepted": status 2xx, from the ingest or from the spool, which a browser cannot tell apart. */
  outcome: "accepted" | "queued" | "rejected" | "failed" | "rate limited" | "dropped";
  /** The response's status, if there was one. */
  status?: number | undefined;
  latencyMs?: number | undefined;
  /** For people: the rate limits that the response sets, where the envelope is queued, or why the error was dropped. */
  note: string | undefined;
};

const MAX_OUTCOMES = 50;
const NONE: readonly SendOutcome[] = [];
const store = shared("send-outcomes", () => ({ latest: NONE, count: 0, listeners: new Set<() => void>() }));

/** Stores a send outcome as the newest; only the latest fifty are stored. */
export function recordOutcome(outcome: Omit<SendOutcome, "number">): void {
  store.count += 1;
  store.latest = [{ ...outcome, number: store.count }, ...store.latest].slice(0, MAX_OUTCOMES);
  for (const notify of store.listeners) notify();
}

/** Returns the latest send outcomes of this process or page, newest first: the snapshot for `useSyncExternalStore`. */
export const sendOutcomes = (): readonly SendOutcome[] => store.latest;

/** Takes a callback for each new send outcome and returns the function that ends the subscription. */
export function subscribe(notify: () => void): () => void {
  store.listeners.add(notify);
  return () => store.listeners.delete(notify);
}

/** Returns the server snapshot for `useSyncExternalStore`: nothing has been sent yet. */
export const noSendOutcomes = (): readonly SendOutcome[] => NONE;
