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
  outcome: Outcome;
  /** The response's status; undefined without a response. */
  status: number | undefined;
  latencyMs: number | undefined;
  /** For people: the rate limits that the response sets, where the envelope is queued, or why the error was dropped. */
  note: string | undefined;
};

/** "accepted": status 2xx, from the ingest or from the spool, which a browser cannot tell apart. */
export type Outcome = "accepted" | "queued" | "rejected" | "failed" | "rate limited" | "dropped";

const MAX_OUTCOMES = 50;
const NONE: readonly SendOutcome[] = [];

type Store = { latest: readonly SendOutcome[]; count: number; listeners: Set<() => void> };

const store = shared<Store>("send-outcomes", () => ({ latest: NONE, count: 0, listeners: new Set() }));

/** Takes a send outcome and stores it as the newest; only the latest fifty are stored. */
export function recordOutcome(outcome: Omit<SendOutcome, "number">): void {
  store.count += 1;
  store.latest = [{ ...outcome, number: store.count }, ...store.latest].slice(0, MAX_OUTCOMES);
  for (const notify of store.listeners) notify();
}

/** Returns the latest send outcomes of this process or page, newest first: the snapshot for `useSyncExternalStore`. */
export function sendOutcomes(): readonly SendOutcome[] {
  return store.latest;
}

/** Takes a callback for each new send outcome and returns the function that ends the subscription. */
export function subscribe(notify: () => void): () => void {
  store.listeners.add(notify);
  return () => store.listeners.delete(notify);
}

/** Returns the server snapshot for `useSyncExternalStore`: nothing has been sent yet. */
export function noSendOutcomes(): readonly SendOutcome[] {
  return NONE;
}
