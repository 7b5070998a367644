import { type Envelope, envelopeOf, type Recorder } from "../../../../deploy/test/support/recorder/client.ts";

/** A stack with a recorder behind its ingest. */
interface Recording {
  recorder: Recorder;
}

/** The envelopes that arrived. Pages are left out, for which the recorder stands in for web. */
export async function recorded(stack: Recording): Promise<Envelope[]> {
  return (await stack.recorder.all()).filter(({ method }) => method === "POST").map(envelopeOf);
}

/** How many of these ids never arrived, and how many arrivals were duplicates. */
export async function outcome(stack: Recording, ids: string[]): Promise<{ lost: number; repeated: number }> {
  const sent = new Set(ids);
  const arrived = (await recorded(stack)).map(({ header }) => header.event_id ?? "").filter((id) => sent.has(id));
  const distinct = new Set(arrived);
  return { lost: sent.size - distinct.size, repeated: arrived.length - distinct.size };
}
