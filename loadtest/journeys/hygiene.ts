import { judgeAnswer, said } from "../lib/judge.ts";
import { pageTrace } from "../lib/page-trace.ts";
import { pick } from "../lib/random.ts";
import { type BadHeaders, badHeaders } from "../lib/trace/bad-headers.ts";
import type { Answer, Visitor } from "../lib/visitor.ts";

/** Arrives with each of the broken trace headers that the world sends. */
export async function hygiene(visitor: Visitor): Promise<void> {
  const path = pick(visitor.knobs.pages);
  for (const bad of badHeaders()) {
    const answer = await visitor.ask({ path, name: `${path} (bad headers)`, headers: bad.headers });
    judgeBad(visitor, bad, `${path} with ${bad.name}`, answer);
  }
}

function judgeBad(visitor: Visitor, bad: BadHeaders, where: string, answer: Answer): void {
  judgeAnswer(visitor, answer, where);
  if (bad.forbidden.length > 0) {
    const whole = [answer.body, ...Object.values(answer.headers)].join("\n");
    const found = bad.forbidden.filter((text) => whole.includes(text));
    visitor.check("hygiene_echo", found.length === 0, `${where}: the answer contains ${found.join(", ")} of it`);
  }
  if (bad.oversized && answer.status === 431) return visitor.check("hygiene_page", true);
  const { trace, problem } = pageTrace(answer.body);
  // Of two traces that contradict each other a page may take either.
  const usable = bad.conflicting ? trace !== undefined : problem === "";
  visitor.check("hygiene_page", answer.status === 200 && usable, `${where}: ${said(answer)}, ${problem}`);
}
