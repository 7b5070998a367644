import type { Client } from "../lib/client.ts";
import { foreignProject, tunnelArguments } from "../lib/dsn.ts";
import { makeEnvelope } from "../lib/envelope.ts";
import { assertResponse, describeResponse } from "../lib/responses.ts";
import { ENVELOPE_HEADERS, newSender, sendEnvelope } from "../lib/send-envelope.ts";

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

/**
 * Tries to misuse the tunnel as a relay. It may accept a foreign DSN in the envelope alone, which its own project's ingest rejects.
 */
export async function reject(client: Client): Promise<void> {
  const { dsn, tunnelPath } = client.options;
  const project = foreignProject(dsn);
  const { body } = makeEnvelope("error", {
    ...newSender(client),
    dsn: { ...dsn, text: dsn.text.replace(/\d+$/, project), project },
  });
  const send = async (name: string, method: "GET" | "POST", query: string, expected = /^4(?!29)\d\d$/) => {
    const request = { method, path: tunnelPath + query, kind: "rejected", name } as const;
    const on = await client.request(method === "GET" ? request : { ...request, headers: ENVELOPE_HEADERS, body });
    assertResponse(client, on);
    const example = `${name}: expected a status like 403, got ${describeResponse(on)}`;
    client.check("tunnel_rejected", expected.test(`${on.status}`), on, example);
  };
  await send("a foreign project", "POST", `?o=1&p=${project}`);
  await send("a foreign project and region", "POST", `?o=1&p=${project}&r=de`);
  await send("a foreign organisation", "POST", `?o=4040404&p=${dsn.project}`);
  await send("an invalid project", "POST", "?o=1&p=../../7");
  await send("a GET", "GET", "");
  await send("a foreign DSN in the envelope", "POST", tunnelArguments(dsn), /^[24]/);
}
