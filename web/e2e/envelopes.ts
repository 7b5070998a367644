import { type Envelope, envelopeOf, headerOf, type Item } from "../../deploy/test/support/recorder/client.ts";
import type { RecordedRequest } from "../../deploy/test/support/recorder/types.ts";
import { recorder } from "./stack.ts";

export interface ReceivedItem {
  item: Item;
  envelope: Envelope;
}

export function isFromBrowser(received: ReceivedItem): boolean {
  return headerOf(received.envelope.request, "user-agent")?.includes("Chrom") ?? false;
}

export function itemsIn(request: RecordedRequest, type: string): ReceivedItem[] {
  if (!/\/api\/\d+\/envelope\//.test(request.url)) return [];
  const envelope = envelopeOf(request);
  return envelope.items.filter((item) => item.header.type === type).map((item) => ({ item, envelope }));
}

/** Waits until an item of this type that `matches` has arrived at an ingest, in requests from `mark` on. */
export const arrived = (type: string, matches: (received: ReceivedItem) => boolean, mark = 0, ingest = recorder) =>
  ingest.waitFor((request) => itemsIn(request, type).find(matches), mark);

export function says(text: string): (received: ReceivedItem) => boolean {
  return ({ item }) => JSON.stringify(item.payload).includes(text);
}

export async function received(type: string, matches: (received: ReceivedItem) => boolean): Promise<ReceivedItem[]> {
  return (await recorder.all()).flatMap((request) => itemsIn(request, type)).filter(matches);
}

export function messageOf(event: ReceivedItem): string {
  return event.item.payload.exception?.values?.at(-1)?.value ?? "";
}

export function of(trace: string): (event: ReceivedItem) => boolean {
  return ({ item }) => item.payload.contexts?.trace?.trace_id === trace;
}

/** So that its events can be told from those of other tests. */
export function freshTrace() {
  const id = crypto.randomUUID().replaceAll("-", "");
  return { id, headers: { "sentry-trace": `${id}-${id.slice(16)}-1` } };
}
