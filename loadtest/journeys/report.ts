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
  const example = `${ask.name}: ${said(answer)} after ${answer.milliseconds.toFixed(0)} ms`;
  const phase = visitor.phase();
  if (phase === "edge") return;
  const taken = answer.status >= 200 && answer.status < 300;
  const limited = answer.status === 429;
  // Too many from one address is a refusal by design, told as the SDK understands it; a tunnel that takes next to nothing is shut.
  if (phase !== "down" && (taken || limited)) visitor.check("tunnel_open", taken, example, sender.traceId);
  if (phase === "down" || limited) {
    visitor.check("tunnel_honest", taken || honest(answer), example, sender.traceId);
  } else visitor.check("tunnel_accepted", taken, example, sender.traceId);
}

/**
 * Whether a browser's SDK can act on a refusal: try again later (502 to 504), or a rate limit that names its categories; a
 * bare 429 would silence every category for a minute. https://develop.sentry.dev/sdk/expected-features/rate-limiting/
 */
function honest({ status, headers, milliseconds }: Answer): boolean {
  const limited = status === 429 && headers["x-sentry-rate-limits"] !== undefined;
  return milliseconds < SOON_MS && (limited || (status >= 502 && status <= 504));
}
