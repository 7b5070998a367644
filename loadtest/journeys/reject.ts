import { assertResponse, describeResponse } from "../lib/assertions.ts";
import type { Client } from "../lib/client.ts";
import { errorEnvelope } from "../lib/envelope.ts";
import { randomHex } from "../lib/random.ts";

/** Tries to misuse the tunnel as a relay: to another project, to another organisation, and with GET. */
export async function reject(client: Client): Promise<void> {
  const { dsn, foreignProject } = client.options;
  const queries = {
    "a foreign project": `?o=1&p=${foreignProject}`,
    "a foreign project and region": `?o=1&p=${foreignProject}&r=de`,
    "a foreign organisation": `?o=4040404&p=${dsn.project}`,
    "an invalid project": "?o=1&p=../../7",
  };
  const foreign = { ...dsn, text: dsn.text.replace(/\d+$/, foreignProject), project: foreignProject };
  for (const [what, query] of Object.entries(queries)) {
    const body = errorEnvelope({ dsn: foreign, traceId: randomHex(16), now: new Date() });
    await assertRejected(client, what, { method: "POST", query, body }, [403]);
  }
  await assertRejected(client, "a GET", { method: "GET", query: "" }, [403, 405]);
}

interface Attempt {
  method: "GET" | "POST";
  query: string;
  body?: ArrayBuffer;
}

async function assertRejected(
  client: Client,
  what: string,
  { method, query, body }: Attempt,
  statuses: number[],
): Promise<void> {
  const { tunnelPath } = client.options;
  const response = await client.request({ method, path: tunnelPath + query, name: `${tunnelPath} (${what})`, body });
  assertResponse(client, response, what);
  client.check("tunnel_rejected", statuses.includes(response.status), `${what}: ${describeResponse(response)}`);
}
