import type { Client } from "../lib/client.ts";
import { newTraceId } from "../lib/context.ts";
import { foreignProject, tunnelArguments } from "../lib/dsn.ts";
import { type Envelope, makeEnvelope, type Sender } from "../lib/envelope.ts";
import { isAnswer, type Response } from "../lib/request.ts";
import { assertResponse, describeResponse } from "../lib/responses.ts";

const HEADERS = { "content-type": "text/plain;charset=UTF-8" };

/** Sends what a browser does on a page that fails: an error, a transaction, a session and logs. */
export async function envelopes(client: Client): Promise<void> {
  const sender = newSender(client);
  for (const kind of ["error", "transaction", "session", "log"] as const)
    await sendEnvelope(client, makeEnvelope(kind, sender), sender);
}

/** Sends a compressed transaction, as the SDKs of servers do. */
export async function compressed(client: Client): Promise<void> {
  const sender = newSender(client);
  const envelope = makeEnvelope("transaction", sender);
  await sendEnvelope(client, { ...envelope, name: "compressed transaction", compressed: true }, sender);
}

/** Sends a segment of a session replay and feedback with a picture; under load, also once the largest envelope. */
export async function replay(client: Client): Promise<void> {
  const sender = newSender(client);
  const largest = client.round === 0 && client.isLoad ? (["largest"] as const) : [];
  for (const kind of ["replay", "feedback", ...largest] as const)
    await sendEnvelope(client, { ...makeEnvelope(kind, sender), untimed: kind === "largest" }, sender);
}

/** Tries to misuse the tunnel as a relay. It may accept a foreign DSN in the envelope alone, which its own ingest rejects. */
export async function reject(client: Client): Promise<void> {
  const { dsn, tunnelPath } = client.options;
  const project = foreignProject(dsn);
  const foreign = { ...dsn, text: dsn.text.replace(/\d+$/, project), project };
  const { body } = makeEnvelope("error", { ...newSender(client), dsn: foreign });
  const send = async (name: string, method: "GET" | "POST", query: string, expected = /^4(?!29)\d\d$/) => {
    const request = { method, path: tunnelPath + query, kind: "rejected", name } as const;
    const on = await client.request(method === "GET" ? request : { ...request, headers: HEADERS, body });
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

function newSender({ options }: Client): Sender {
  return { dsn: options.dsn, traceId: newTraceId(), now: new Date() };
}

/** Posts one envelope as the SDK does, and checks the response. */
async function sendEnvelope(client: Client, envelope: Envelope, { traceId }: Sender) {
  const { name, eventId, body, compressed, untimed } = envelope;
  const { tunnelPath, dsn } = client.options;
  const path = tunnelPath + tunnelArguments(dsn);
  const request = { method: "POST", path, kind: "envelope", name, headers: HEADERS, body } as const;
  const on = await client.request({ ...request, traceId, compressed, untimed });
  if (on.status === 0) return;
  assertResponse(client, on);
  const example = `${name}: ${describeResponse(on)}`;
  const accepted = on.status >= 200 && on.status < 300;
  const rateLimited = on.status === 429;
  // An accepted envelope's answer can limit what follows, too.
  const limits = on.headers["x-sentry-rate-limits"];
  const limited = limits === undefined ? example : `${example}, X-Sentry-Rate-Limits: ${limits}`;
  if (accepted || rateLimited) client.check("tunnel_within_limits", accepted && limits === undefined, on, limited);
  // Without categories, a 429 stops all for a minute: https://develop.sentry.dev/sdk/expected-features/rate-limiting/
  if (rateLimited) client.check("tunnel_retryable", isAnswer(on), on, example);
  else if (isAnswer(on)) client.check(compressed ? "tunnel_compressed" : "tunnel_accepted", accepted, on, example);
  if (!accepted) return;
  const problem = answerProblem(on, eventId);
  client.check("tunnel_answer", problem === "", on, `${name}: ${problem}`);
  await client.recordSent({ name, id: eventId, traceId, project: dsn.project, body });
}

/** An ingest answers with the event's id. No SDK reads it: an empty answer is right. */
function answerProblem(on: Response, eventId: string): string {
  const answer = on.body.trim();
  const ok = answer === "" || answer === "{}" || (answer.startsWith("{") && answer.includes(eventId));
  return ok ? "" : `expected {"id":"${eventId}"}, got ${describeResponse(on)} "${answer.slice(0, 80)}"`;
}
