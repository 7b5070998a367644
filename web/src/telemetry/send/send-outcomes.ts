/** What became of one envelope, or of an error that was never put into one. */
export type Delivery = {
  /** Counts up; the newest is the highest. */
  number: number;
  /** When it was sent, in milliseconds since 1970. */
  at: number;
  eventId: string | undefined;
  /** Sentry's name for what is in it: error, transaction, session, log … */
  category: string;
  outcome: Outcome;
  /** The answer's status; undefined when none came. */
  status: number | undefined;
  latencyMs: number | undefined;
  /** In words: the rate limits that the answer sets, where the report is kept, or why the error was dropped. */
  note: string | undefined;
};

/** "taken": with status 2xx. By the ingest or by the spool, which a browser is not told. */
export type Outcome = "taken" | "kept" | "refused" | "no answer" | "held back" | "dropped";

const KEPT = 50;
const NONE: readonly Delivery[] = [];

type Store = { latest: readonly Delivery[]; count: number; listeners: Set<() => void> };

// On the server, instrumentation and pages are separate bundles with a copy of this module each; the store is one.
const KEY = Symbol.for("culvert.deliveries");
const shared = globalThis as { [KEY]?: Store };
shared[KEY] ??= { latest: NONE, count: 0, listeners: new Set() };
const store = shared[KEY];

/** Takes a delivery and puts it first; forgets what is older than the latest fifty. */
export function record(delivery: Omit<Delivery, "number">): void {
  store.count += 1;
  store.latest = [{ ...delivery, number: store.count }, ...store.latest].slice(0, KEPT);
  for (const notify of store.listeners) notify();
}

/** The latest deliveries of this process or page, newest first; with `subscribe` the pair that `useSyncExternalStore` wants. */
export function deliveries(): readonly Delivery[] {
  return store.latest;
}

/** Takes a callback for each new delivery and returns the function that ends the subscription. */
export function subscribe(notify: () => void): () => void {
  store.listeners.add(notify);
  return () => store.listeners.delete(notify);
}

/** What a server-rendered page starts from: nothing was delivered yet. */
export function noDeliveries(): readonly Delivery[] {
  return NONE;
}
