import { type Envelope, envelopeOf, headerOf, type Item } from "../../deploy/test/support/recorder/client.ts";
import type { RecordedRequest } from "../../deploy/test/support/recorder/types.ts";
import { recorder } from "./stack.ts";

/** An item of a received envelope, with that envelope and its request. */
export interface ReceivedItem {
  item: Item;
  envelope: Envelope;
}

/** Whether the SDK in the browser sent an item, rather than the one on the server. */
export function isFromBrowser(received: ReceivedItem): boolean {
  return headerOf(received.envelope.request, "user-agent")?.includes("Chrom") ?? false;
}

/** The items of this type in a request; none if the request is not an envelope. */
export function itemsIn(request: RecordedRequest, type: string): ReceivedItem[] {
  if (!/\/api\/\d+\/envelope\//.test(request.url)) return [];
  const envelope = envelopeOf(request);
  return envelope.items.filter((item) => item.header.type === type).map((item) => ({ item, envelope }));
}

/** Waits until an item of this type that `matches` has arrived, in requests from `mark` on. */
export function arrived(type: string, matches: (received: ReceivedItem) => boolean, mark = 0): Promise<ReceivedItem> {
  return recorder.waitFor((request) => itemsIn(request, type).find(matches), mark);
}

/** Every item of this type received so far that `matches`. */
export async function received(type: string, matches: (received: ReceivedItem) => boolean): Promise<ReceivedItem[]> {
  return (await recorder.all()).flatMap((request) => itemsIn(request, type)).filter(matches);
}

/** The message of an event's exception. */
export function messageOf(event: ReceivedItem): string {
  return event.item.payload.exception?.values?.at(-1)?.value ?? "";
}

/** Returns a filter for the events and transactions of this trace. */
export function of(trace: string): (event: ReceivedItem) => boolean {
  return ({ item }) => item.payload.contexts?.trace?.trace_id === trace;
}

/** A new trace and the headers of a request that starts it, so that its events can be told from those of other tests. */
export function freshTrace() {
  const id = crypto.randomUUID().replaceAll("-", "");
  return { id, headers: { "sentry-trace": `${id}-${id.slice(16)}-1` } };
}
