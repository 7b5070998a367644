import { judgeAnswer, said } from "../lib/judge.ts";
import { pageTrace } from "../lib/page-trace.ts";
import { pick, randomHex } from "../lib/random.ts";
import { type BadHeaders, badHeaders } from "../lib/trace/bad-headers.ts";
import type { Answer, Visitor } from "../lib/visitor.ts";

/** Arrives with each of the broken trace headers that the world sends. */
export async function hygiene(visitor: Visitor): Promise<void> {
  const path = pick(visitor.knobs.pages);
  const canary = `canary${randomHex(8)}`;
  for (const bad of badHeaders(canary)) {
    const answer = await visitor.ask({ path, name: `${path} (bad headers)`, headers: bad.headers });
    judgeBad(visitor, bad, canary, `${path} with ${bad.name}`, answer);
  }
}

function judgeBad(visitor: Visitor, bad: BadHeaders, canary: string, where: string, answer: Answer): void {
  judgeAnswer(visitor, answer, where);
  if (bad.oversized && answer.status === 431) return visitor.check("hygiene_page", true);
  const { trace, problem } = pageTrace(answer.body);
  // Of two traces that contradict each other a page may take either.
  const usable = bad.conflicting ? trace !== undefined : problem === "";
  visitor.check("hygiene_page", answer.status === 200 && usable, `${where}: ${said(answer)}, ${problem}`);
  const found = answer.body.includes(canary) || Object.values(answer.headers).some((value) => value.includes(canary));
  visitor.check("hygiene_echo", !found, `${where}: the answer contains it`);
}
