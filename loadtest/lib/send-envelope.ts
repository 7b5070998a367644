import type { Client } from "./client.ts";
import { newTraceId } from "./context.ts";
import { tunnelArguments } from "./dsn.ts";
import type { Envelope, Sender } from "./envelope.ts";
import { isAnswer, type Response } from "./request.ts";
import { assertResponse, describeResponse } from "./responses.ts";

export const ENVELOPE_HEADERS = { "content-type": "text/plain;charset=UTF-8" };

export function newSender({ options }: Client): Sender {
  return { dsn: options.dsn, traceId: newTraceId(), now: new Date() };
}

/** Posts one envelope to the tunnel as the SDK does, and checks the response. */
export async function sendEnvelope(client: Client, envelope: Envelope, { traceId }: Sender) {
  const { name, eventId, body, compressed, untimed } = envelope;
  const { tunnelPath, dsn } = client.options;
  const path = tunnelPath + tunnelArguments(dsn);
  const request = { method: "POST", path, kind: "envelope", name, headers: ENVELOPE_HEADERS, body, traceId } as const;
  const on = await client.request({ ...request, compressed, untimed });
  if (on.status === 0) return;
  assertResponse(client, on);
  const example = `${name}: ${describeResponse(on)}`;
  const accepted = on.status >= 200 && on.status < 300;
  const rateLimited = on.status === 429;
  // A tunnel may limit rates, but not of nearly everything. An accepted envelope's answer can limit what follows, too.
  const limits = on.headers["x-sentry-rate-limits"];
  const limited = limits === undefined ? example : `${example}, X-Sentry-Rate-Limits: ${limits}`;
  if (accepted || rateLimited) client.check("tunnel_within_limits", accepted && limits === undefined, on, limited);
  // Without categories, a 429 stops all of them for a minute: https://develop.sentry.dev/sdk/expected-features/rate-limiting/
  if (rateLimited) client.check("tunnel_retryable", isAnswer(on), on, example);
  else if (isAnswer(on)) client.check(compressed ? "tunnel_compressed" : "tunnel_accepted", accepted, on, example);
  if (!accepted) return;
  const problem = answerProblem(on, eventId);
  client.check("tunnel_answer", problem === "", on, `${name}: ${problem}`);
  await client.recordSent({ name, id: eventId, traceId, project: dsn.project, body });
}

/** An ingest answers with the event's id. No SDK reads it, so an empty response is right. */
function answerProblem(on: Response, eventId: string): string {
  const answer = on.body.trim();
  const ok = answer === "" || answer === "{}" || (answer.startsWith("{") && answer.includes(eventId));
  return ok ? "" : `expected {"id":"${eventId}"}, got ${describeResponse(on)} "${answer.slice(0, 80)}"`;
}
