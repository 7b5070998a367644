import type { Plant } from "./faults.ts";
import type { Reply } from "./stub.ts";

/** Answers a report as the tunnel should: its own project only, and only what an ingest can read. */
export function answerReport(method: string, search: string, body: string, plant: Plant, reply: Reply): void {
  if (plant.ingestDown) return reply(502);
  if (method !== "POST") return reply(plant.getOnTunnel ? 200 : 405);
  if (search !== "" && !plant.openRelay) return reply(403);
  reply(wellFormed(body) ? 200 : 400, { "content-type": "application/json" }, "{}");
}

/** Walks an envelope by the lengths that it states, as an ingest does. `body` holds one character a byte. */
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
