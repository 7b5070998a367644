import { randomUUID } from "node:crypto";

/** The destination for envelopes with the stack's default DSN. */
export const envelopeUrl = "http://ingest:9000/api/7/envelope/";

/** A new event id. */
export const newId = () => randomUUID().replaceAll("-", "");

/** An envelope of one item with `size` bytes of payload. */
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
      signal: AbortSignal.timeout(20_000),
      headers: { "x-spool-destination": envelopeUrl, ...headers },
    });
    return { status: response.status, body: JSON.parse((await response.text()) || "{}") as { reason?: string } };
  } catch {
    return { status: 0, body: {} };
  }
}

/** Sends `count` envelopes, `concurrency` at a time, and returns the ids that the spool answered with 200. */
export async function sendMany(
  url: string,
  count: number,
  item = "event",
  size = 0,
  concurrency = 32,
): Promise<string[]> {
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
