import { randomUUID } from "node:crypto";
import { type Envelope, envelopeOf, type Recorder } from "../../../deploy/test/support/recorder/client.ts";

/** Where to look: at what arrived, and at the spool's address. */
export interface Ends {
  recorder: Recorder;
  url: string;
}

/** Where the spool is told to deliver to, with the stack's own DSN. */
export const to = "http://ingest:9000/api/7/envelope/";

/** A new event id. */
export const newId = () => randomUUID().replaceAll("-", "");

/** An envelope of one item, `size` bytes of payload in it. */
export function envelope(item = "event", id = newId(), size = 0): Buffer {
  const header = `{"event_id":"${id}","sent_at":"2026-01-01T00:00:00.000Z","sdk":{"name":"test"}}`;
  return Buffer.from(`${header}\n{"type":"${item}"}\n{"message":"${"x".repeat(size)}"}\n`);
}

/** Hands a body to the spool as the proxy does; the answer's status is 0 where the connection failed. */
export async function hand(url: string, body: Buffer, headers: Record<string, string> = {}) {
  try {
    const answer = await fetch(url, {
      method: "POST",
      body: new Uint8Array(body),
      signal: AbortSignal.timeout(20_000),
      headers: { "x-spool-destination": to, ...headers },
    });
    return { status: answer.status, body: (await answer.json()) as { id?: string; reason?: string } };
  } catch {
    return { status: 0, body: {} };
  }
}

/** Hands over `count` envelopes, `at once` of them together, and returns the ids that the spool answered 200 for. */
export async function handMany(url: string, count: number, item = "event", size = 0, atOnce = 32): Promise<string[]> {
  const accepted: string[] = [];
  let left = count;
  const client = async () => {
    while (left-- > 0) {
      const id = newId();
      const { status } = await hand(url, envelope(item, id, size));
      if (status === 200) accepted.push(id);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  return accepted;
}

/** The envelopes that the recorder holds; where it plays web as well, pages don't count. */
export async function recorded(stack: Ends): Promise<Envelope[]> {
  return (await stack.recorder.all()).filter(({ method }) => method === "POST").map(envelopeOf);
}

/** What became of these ids: how many never arrived, and how many arrivals were one too many. */
export async function outcome(stack: Ends, ids: string[]): Promise<{ lost: number; repeated: number }> {
  const sent = new Set(ids);
  const arrived = (await recorded(stack)).map(({ header }) => header.event_id ?? "").filter((id) => sent.has(id));
  const distinct = new Set(arrived);
  return { lost: sent.size - distinct.size, repeated: arrived.length - distinct.size };
}

/** How many of these ids arrived more than once, however often: the spool counts envelopes that may have been repeated, not repeats. */
export async function repeatedEnvelopes(stack: Ends, ids: string[]): Promise<number> {
  const arrivals = new Map<string, number>(ids.map((id) => [id, 0]));
  for (const { header } of await recorded(stack)) {
    const before = arrivals.get(header.event_id ?? "");
    if (before !== undefined) arrivals.set(header.event_id ?? "", before + 1);
  }
  return [...arrivals.values()].filter((times) => times > 1).length;
}

/** One of the spool's metrics, its labels written as in the text format; 0 when it is not there. */
export async function metric(stack: Ends, name: string): Promise<number> {
  const text = await (await fetch(`${stack.url}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`culvert_spool_${name} `));
  return Number(line?.split(" ").at(-1) ?? 0);
}

/** Whether nothing waits. */
export async function isEmpty(stack: Ends): Promise<boolean> {
  const text = await (await fetch(`${stack.url}/metrics`)).text();
  return !text.includes("\nculvert_spool_queued_envelopes{");
}
