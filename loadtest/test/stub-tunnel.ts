import type { Fault } from "./faults.ts";
import type { Reply } from "./stub.ts";

/** Responds to an envelope as the tunnel must: accepts its own project only, and only envelopes that an ingest can parse. */
export function respondToEnvelope(method: string, search: string, body: string, fault: Fault, reply: Reply): void {
  if (fault.ingestDown) return reply(502);
  if (method !== "POST") return reply(fault.getOnTunnel ? 200 : 405);
  if (search !== "" && !fault.openRelay) return reply(403);
  reply(wellFormed(body) ? 200 : 400, { "content-type": "application/json" }, "{}");
}

/** Parses an envelope by the lengths in its item headers, as an ingest does. `body` has one character per byte. */
export function wellFormed(body: string): boolean {
  let rest = body.slice(body.indexOf("\n") + 1);
  while (rest.length > 0) {
    const end = rest.indexOf("\n");
    const { length } = JSON.parse(rest.slice(0, end));
    if (rest[end + 1 + length] !== "\n") return false;
    rest = rest.slice(end + length + 2);
  }
  return true;
}
