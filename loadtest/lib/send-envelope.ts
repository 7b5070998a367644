import type { Client } from "./client.ts";
import { newTraceId } from "./context.ts";
import { tunnelArguments } from "./dsn.ts";
import type { Envelope, Sender } from "./envelope.ts";
import { isAnswer, type Response } from "./request.ts";
import { assertResponse, describeResponse } from "./responses.ts";

/** An error response must arrive within this time: a page that is being closed cannot wait longer. */
const MAX_ERROR_RESPONSE_MS = 5000;

export const ENVELOPE_HEADERS = { "content-type": "text/plain;charset=UTF-8" };

/** A sender with a new trace. */
export function newSender({ options }: Client): Sender {
  return { dsn: options.dsn, traceId: newTraceId(), now: new Date() };
}

/** Posts one envelope to the tunnel as the SDK does, and checks the response. */
export async function sendEnvelope(client: Client, { name, eventId, body }: Envelope, { traceId }: Sender) {
  const { tunnelPath, dsn } = client.options;
  const path = tunnelPath + tunnelArguments(dsn);
  const request = { method: "POST", path, kind: "envelope", name, headers: ENVELOPE_HEADERS, body, traceId } as const;
  const on = await client.request(request);
  const phase = client.phase();
  if (phase === "transition") return;
  if (on.status !== 0) assertResponse(client, on);
  const example = `${name}: ${describeResponse(on)} after ${on.milliseconds.toFixed(0)} ms`;
  const accepted = on.status >= 200 && on.status < 300;
  const rateLimited = on.status === 429;
  // Rate limiting one client is by design, and the SDK understands it. A tunnel that rate-limits nearly everything is not usable.
  if (phase !== "down" && (accepted || rateLimited)) client.check("tunnel_within_limits", accepted, on, example);
  if (phase === "down" || rateLimited) client.check("tunnel_retryable", accepted || isRetryable(on), on, example);
  else if (isAnswer(on)) client.check("tunnel_accepted", accepted, on, example);
  if (!accepted) return;
  const problem = answerProblem(on, eventId);
  client.check("tunnel_answer", problem === "", on, `${name}: ${problem}`);
  await client.recordSent(name, eventId, body, on);
}

/** An ingest answers with the event's id. Culvert's proxy drops that, because no SDK reads it: an empty response is right, a login page is not. */
function answerProblem(on: Response, eventId: string): string {
  const answer = on.body.trim();
  const ok = answer === "" || answer === "{}" || (answer.startsWith("{") && answer.includes(eventId));
  return ok ? "" : `expected {"id":"${eventId}"}, got ${describeResponse(on)} "${answer.slice(0, 80)}"`;
}

/**
 * Whether a browser's SDK can act on the error: retry later (502 to 504), or a rate limit that names its categories. A
 * 429 without them would stop every category for a minute. https://develop.sentry.dev/sdk/expected-features/rate-limiting/
 */
function isRetryable({ status, headers, milliseconds }: Response): boolean {
  const rateLimited = status === 429 && headers["x-sentry-rate-limits"] !== undefined;
  return milliseconds < MAX_ERROR_RESPONSE_MS && (rateLimited || (status >= 502 && status <= 504));
}
