import { randomUUID } from "node:crypto";
import { type Envelope, envelopeOf, type Recorder } from "../../../../deploy/test/support/recorder/client.ts";

export const envelopeUrl = "http://ingest:9000/api/7/envelope/";

export const newId = () => randomUUID().replaceAll("-", "");

export function envelope(item = "event", id = newId(), size = 0): Buffer {
  const header = `{"event_id":"${id}","sent_at":"2026-01-01T00:00:00.000Z","sdk":{"name":"test"}}`;
  return Buffer.from(`${header}\n{"type":"${item}"}\n{"message":"${"x".repeat(size)}"}\n`);
}

/** Sends a body to the spool as the proxy does; the status is 0 if the connection failed. */
export async function send(url: string, body: Buffer, headers: Record<string, string> = {}) {
  try {
    const response = await fetch(url, {
      method: "POST",
      body: new Uint8Array(body),
      signal: AbortSignal.timeout(60_000),
      headers: { "x-spool-destination": envelopeUrl, ...headers },
    });
    return { status: response.status, body: JSON.parse((await response.text()) || "{}") as { reason?: string } };
  } catch {
    return { status: 0, body: {} };
  }
}

/** Returns the ids that the spool answered with 200. */
export async function sendMany(url: string, count: number, item = "event", size = 0, concurrency = 32) {
  const accepted: string[] = [];
  let left = count;
  const client = async () => {
    while (left-- > 0) {
      const id = newId();
      const { status } = await send(url, envelope(item, id, size));
      if (status === 200) accepted.push(id);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, client));
  return accepted;
}

/** The envelopes that arrived. Pages are left out, for which the recorder stands in for web. */
export async function recorded(stack: { recorder: Recorder }): Promise<Envelope[]> {
  return (await stack.recorder.all()).filter(({ method }) => method === "POST").map(envelopeOf);
}

export async function outcome(stack: { recorder: Recorder }, ids: string[]) {
  const sent = new Set(ids);
  const arrived = (await recorded(stack)).map(({ header }) => header.event_id ?? "").filter((id) => sent.has(id));
  const distinct = new Set(arrived);
  return { lost: sent.size - distinct.size, repeated: arrived.length - distinct.size };
}

/** A metric of a spool, with its labels as in the text format; without labels, the sum of all; 0 if it is not there. */
export async function metric(spool: { url: string }, name: string): Promise<number> {
  const lines = (await (await fetch(`${spool.url}/metrics`)).text()).split("\n");
  const series = lines.filter((line) => [" ", "{"].some((next) => line.startsWith(`culvert_spool_${name}${next}`)));
  return series.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

export async function isEmpty({ urls }: { urls: string[] }): Promise<boolean> {
  const queued = await Promise.all(urls.map((url) => metric({ url }, "queued_envelopes")));
  return queued.every((envelopes) => envelopes === 0);
}
