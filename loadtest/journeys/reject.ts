import type { Client } from "../lib/client.ts";
import { tunnelArguments } from "../lib/dsn.ts";
import { errorEnvelope } from "../lib/envelope.ts";
import { randomHex } from "../lib/random.ts";
import { assertResponse, describeResponse } from "../lib/responses.ts";
import { ENVELOPE_HEADERS, newSender } from "../lib/send-envelope.ts";

/** Tries to misuse the tunnel as a relay: to another project, to another organisation, and with GET. */
export async function reject(client: Client): Promise<void> {
  const { dsn, foreignProject, tunnelPath } = client.options;
  const queries = {
    "a foreign project": `?o=1&p=${foreignProject}`,
    "a foreign project and region": `?o=1&p=${foreignProject}&r=de`,
    "a foreign organisation": `?o=4040404&p=${dsn.project}`,
    "an invalid project": "?o=1&p=../../7",
  };
  const foreign = { ...dsn, text: dsn.text.replace(/\d+$/, foreignProject), project: foreignProject };
  const { body } = errorEnvelope({ dsn: foreign, traceId: randomHex(16), now: new Date() });
  for (const [name, query] of Object.entries(queries)) {
    const on = await client.request({ method: "POST", path: tunnelPath + query, kind: "rejected", name, body });
    assertResponse(client, on);
    client.check("tunnel_rejected", on.status === 403, on, `${name}: expected 403, got ${describeResponse(on)}`);
  }
  const get = await client.request({ path: tunnelPath, kind: "rejected", name: "a GET" });
  assertResponse(client, get);
  client.check("tunnel_rejected", [403, 405].includes(get.status), get, `expected 405, got ${describeResponse(get)}`);
  await foreignBody(client);
}

/**
 * Names a foreign project in the envelope alone. The tunnel's destination is fixed, so it may accept the envelope: it then reaches its own
 * project's ingest, which rejects it. Whether it went anywhere else is not checked.
 */
async function foreignBody(client: Client): Promise<void> {
  const { dsn, foreignProject, tunnelPath } = client.options;
  const text = dsn.text.replace(/\d+$/, foreignProject);
  const { body } = errorEnvelope({ ...newSender(client), dsn: { ...dsn, text, project: foreignProject } });
  const path = tunnelPath + tunnelArguments(dsn);
  const name = "a foreign DSN in the envelope";
  const on = await client.request({ method: "POST", path, kind: "rejected", name, headers: ENVELOPE_HEADERS, body });
  assertResponse(client, on);
  const ok = [200, 400, 403, 429].includes(on.status);
  client.check("tunnel_rejected", ok, on, `${name}: expected 200, 400 or 403, got ${describeResponse(on)}`);
}
