import type { Client } from "../lib/client.ts";
import { foreignProject, tunnelArguments } from "../lib/dsn.ts";
import { makeEnvelope } from "../lib/envelope.ts";
import { assertResponse, describeResponse } from "../lib/responses.ts";
import { ENVELOPE_HEADERS, newSender } from "../lib/send-envelope.ts";

/**
 * Tries to misuse the tunnel as a relay: to another project, to another organisation, with GET, and with a foreign DSN in the envelope
 * alone. The tunnel's destination is fixed, so it may accept the last one: its own project's ingest rejects it.
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
