import type { Client } from "../lib/client.ts";
import { replayEnvelope } from "../lib/envelope.ts";
import { newSender, sendEnvelope } from "../lib/send-envelope.ts";

/** Sends one segment of a session replay, forty times the size of an error. */
export async function replay(client: Client): Promise<void> {
  const sender = newSender(client);
  await sendEnvelope(client, "replay", replayEnvelope(sender), sender);
}
