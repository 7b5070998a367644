/** What became of an error report: the answer's status, or undefined when none came. */
export type Delivery = { eventId: string; status: number | undefined };

let latest: Delivery | undefined;
const listeners = new Set<() => void>();

type Sender = {
  on(
    hook: "afterSendEvent",
    callback: (event: { type?: string; event_id?: string }, response: { statusCode?: number }) => void,
  ): unknown;
};

/** Takes the SDK's client and remembers what becomes of each error report it sends. */
export function watchDeliveries(client: Sender): void {
  client.on("afterSendEvent", (event, response) => {
    // Only error events have no type.
    if (event.type || !event.event_id) return;
    latest = { eventId: event.event_id, status: response.statusCode };
    for (const notify of listeners) notify();
  });
}

/** The latest delivery; with `subscribeDeliveries` the pair that `useSyncExternalStore` wants. */
export function latestDelivery(): Delivery | undefined {
  return latest;
}

/** Takes a callback for each new delivery and returns the function that ends the subscription. */
export function subscribeDeliveries(notify: () => void): () => void {
  listeners.add(notify);
  return () => listeners.delete(notify);
}
