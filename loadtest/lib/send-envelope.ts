import { assertResponse, describeResponse } from "./assertions.ts";
import type { Client, Response } from "./client.ts";
import { tunnelArguments } from "./dsn.ts";
import type { Sender } from "./envelope.ts";
import { randomHex } from "./random.ts";
import { SENT_TRACE_PREFIX } from "./trace/context.ts";

/** An error response must arrive within this time: a page that is being closed cannot wait longer. */
const MAX_ERROR_RESPONSE_MS = 5000;

const HEADERS = { "content-type": "text/plain;charset=UTF-8" };

/** A sender with a new trace. */
export function newSender(client: Client): Sender {
  return { dsn: client.options.dsn, traceId: SENT_TRACE_PREFIX + randomHex(10), now: new Date() };
}

/** Posts one envelope to the tunnel as the SDK does, and checks the response. `kind` names the request in the results. */
export async function sendEnvelope(client: Client, kind: string, body: ArrayBuffer, sender: Sender): Promise<void> {
  const { tunnelPath, dsn } = client.options;
  const path = tunnelPath + tunnelArguments(dsn);
  const request = { method: "POST", path, name: `${tunnelPath} (${kind})`, headers: HEADERS, body } as const;
  const response = await client.request({ ...request, traceId: sender.traceId });
  assertResponse(client, response, request.name);
  const example = `${request.name}: ${describeResponse(response)} after ${response.milliseconds.toFixed(0)} ms`;
  const phase = client.phase();
  if (phase === "transition") return;
  const accepted = response.status >= 200 && response.status < 300;
  const rateLimited = response.status === 429;
  // Rate limiting one client is by design, and the SDK understands it. A tunnel that rate-limits nearly everything is not usable.
  if (phase !== "down" && (accepted || rateLimited))
    client.check("tunnel_within_limits", accepted, example, sender.traceId);
  if (phase === "down" || rateLimited) {
    client.check("tunnel_retryable", accepted || isRetryable(response), example, sender.traceId);
  } else client.check("tunnel_accepted", accepted, example, sender.traceId);
}

/**
 * Whether a browser's SDK can act on the error: retry later (502 to 504), or a rate limit that names its categories. A
 * 429 without them would stop every category for a minute. https://develop.sentry.dev/sdk/expected-features/rate-limiting/
 */
function isRetryable({ status, headers, milliseconds }: Response): boolean {
  const rateLimited = status === 429 && headers["x-sentry-rate-limits"] !== undefined;
  return milliseconds < MAX_ERROR_RESPONSE_MS && (rateLimited || (status >= 502 && status <= 504));
}
