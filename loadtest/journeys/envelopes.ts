import type { Client } from "../lib/client.ts";
import { errorEnvelope, replayEnvelope, transactionEnvelope } from "../lib/envelope.ts";
import { newSender, sendEnvelope } from "../lib/send-envelope.ts";

/** Sends an error and three transactions, as a browser does when a page fails. */
export async function envelopes(client: Client): Promise<void> {
  const sender = newSender(client);
  await sendEnvelope(client, errorEnvelope(sender), sender);
  for (let at = 0; at < 3; at++) await sendEnvelope(client, transactionEnvelope(sender), sender);
}

/** Sends one segment of a session replay. */
export async function replay(client: Client): Promise<void> {
  const sender = newSender(client);
  await sendEnvelope(client, replayEnvelope(sender), sender);
}
