import type { Client } from "../lib/client.ts";
import { makeEnvelope } from "../lib/envelope.ts";
import { newSender, sendEnvelope } from "../lib/send-envelope.ts";

/** Sends what a browser does on a page that fails: an error, a transaction, a session and logs. */
export async function envelopes(client: Client): Promise<void> {
  const sender = newSender(client);
  for (const one of ["error", "transaction", "session", "log"] as const)
    await sendEnvelope(client, makeEnvelope(one, sender), sender);
}

/** Sends a compressed transaction, as the SDKs of servers do. */
export async function compressed(client: Client): Promise<void> {
  const sender = newSender(client);
  const envelope = makeEnvelope("transaction", sender);
  await sendEnvelope(client, { ...envelope, name: "compressed transaction", compressed: true }, sender);
}

/** Sends one segment of a session replay, and the visitor's feedback with a picture. Under load also, once, the largest envelope. */
export async function replay(client: Client): Promise<void> {
  const sender = newSender(client);
  const largest = client.round === 0 && client.isLoad ? (["largest"] as const) : [];
  for (const one of ["replay", "feedback", ...largest] as const)
    await sendEnvelope(client, { ...makeEnvelope(one, sender), untimed: one === "largest" }, sender);
}
