import { tunnelArguments } from "../lib/dsn.ts";
import { errorEnvelope, replayEnvelope, type Sender, transactionEnvelope } from "../lib/envelope.ts";
import { judgeAnswer, said } from "../lib/judge.ts";
import { randomHex } from "../lib/random.ts";
import { SENT_MARK } from "../lib/trace/context.ts";
import type { Answer, Visitor } from "../lib/visitor.ts";

/** How long a report may wait for bad news: a page that is being left has no more time. */
const SOON_MS = 5000;

const HEADERS = { "content-type": "text/plain;charset=UTF-8" };

/** An error and three transactions, as a browser sends them in a bad minute. */
export async function report(visitor: Visitor): Promise<void> {
  const sender = newSender(visitor);
  await send(visitor, "error", errorEnvelope(sender), sender);
  for (let at = 0; at < 3; at++) await send(visitor, "transaction", transactionEnvelope(sender), sender);
}

/** A session replay's segment: forty times an error's size. */
export async function replay(visitor: Visitor): Promise<void> {
  const sender = newSender(visitor);
  await send(visitor, "replay", replayEnvelope(sender), sender);
}

function newSender(visitor: Visitor): Sender {
  return { dsn: visitor.knobs.dsn, traceId: SENT_MARK + randomHex(10), now: new Date() };
}

/** Posts one envelope as the SDK does and judges the answer. */
export async function send(visitor: Visitor, kind: string, body: ArrayBuffer, sender: Sender): Promise<void> {
  const { tunnelPath, dsn } = visitor.knobs;
  const path = tunnelPath + tunnelArguments(dsn);
  const ask = { method: "POST", path, name: `${tunnelPath} (${kind})`, headers: HEADERS, body } as const;
  const answer = await visitor.ask({ ...ask, traceId: sender.traceId });
  judgeAnswer(visitor, answer, ask.name);
  const example = `${ask.name}: ${said(answer)}`;
  const phase = visitor.phase();
  if (phase === "edge") return;
  if (phase === "down") return judgeOutage(visitor, answer, example, sender.traceId);
  visitor.check("tunnel_accepted", answer.status >= 200 && answer.status < 300, example, sender.traceId);
}

/**
 * Whether a browser's SDK can act on what it is told while the ingest is down: try again later (502 to 504), or a rate
 * limit that names its categories; a bare 429 would silence every category for a minute.
 * https://develop.sentry.dev/sdk/expected-features/rate-limiting/
 *
 * An accepted report proves nothing about an outage, so it is not booked: had the ingest been up all along, the check
 * would end without samples, which is red.
 */
function judgeOutage(visitor: Visitor, answer: Answer, example: string, traceId: string): void {
  const { status, headers, milliseconds } = answer;
  if (status >= 200 && status < 300) return;
  const limited = status === 429 && headers["x-sentry-rate-limits"] !== undefined;
  const honest = limited || (status >= 502 && status <= 504);
  visitor.check(
    "tunnel_outage",
    honest && milliseconds < SOON_MS,
    `${example} after ${milliseconds.toFixed(0)} ms`,
    traceId,
  );
}
