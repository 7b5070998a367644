import { type Envelope, envelopeOf, headerOf, type Item } from "../../deploy/test/support/recorder/client.ts";
import type { RecordedRequest } from "../../deploy/test/support/recorder/types.ts";
import { recorder } from "./stack.ts";

/** A report item, with the envelope and the request it came in. */
export interface Report {
  item: Item;
  envelope: Envelope;
}

/** Who sent an envelope: the SDK in the browser or the one on the server. */
export function isFromBrowser(report: Report): boolean {
  return headerOf(report.envelope.request, "user-agent")?.includes("Chrom") ?? false;
}

/** The items of this type in a request; none when the request is no envelope. */
export function reportsIn(request: RecordedRequest, type: string): Report[] {
  if (!/\/api\/\d+\/envelope\//.test(request.url)) return [];
  const envelope = envelopeOf(request);
  return envelope.items.filter((item) => item.header.type === type).map((item) => ({ item, envelope }));
}

/** Waits until an item of this type that `matches` has arrived, looking at requests from `mark` on. */
export function arrived(type: string, matches: (report: Report) => boolean, mark = 0): Promise<Report> {
  return recorder.waitFor((request) => reportsIn(request, type).find(matches), mark);
}

/** Every item of this type received so far that `matches`. */
export async function received(type: string, matches: (report: Report) => boolean): Promise<Report[]> {
  return (await recorder.all()).flatMap((request) => reportsIn(request, type)).filter(matches);
}

/** The message of an event's exception; for matching. */
export function messageOf(report: Report): string {
  return report.item.payload.exception?.values?.at(-1)?.value ?? "";
}

/** The trace id of an event or transaction. */
export function traceIdOf(report: Report): string {
  return report.item.payload.contexts?.trace?.trace_id;
}

/** Whether a report belongs to this trace. */
export function of(trace: string): (report: Report) => boolean {
  return (report) => traceIdOf(report) === trace;
}

/** A request that starts its trace here, so that everything it causes can be told from other tests' reports. */
export function freshTrace() {
  const id = crypto.randomUUID().replaceAll("-", "");
  return { id, headers: { "sentry-trace": `${id}-${id.slice(16)}-1` } };
}
