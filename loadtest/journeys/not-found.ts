import { judgeAnswer, said } from "../lib/judge.ts";
import { randomHex } from "../lib/random.ts";
import type { Visitor } from "../lib/visitor.ts";
import { judgeUnique } from "./fresh.ts";

/** Asks for what is not there, as a page, a build file and an API. */
export async function notFound(visitor: Visitor): Promise<void> {
  const missing = {
    "a page": `/no-such-page-${randomHex(6)}`,
    "a build file": `/_next/static/chunks/${randomHex(6)}.js`,
    "an API": `/api/no-such-${randomHex(6)}`,
  };
  for (const [kind, path] of Object.entries(missing)) {
    const answer = await visitor.ask({ path, name: `404 for ${kind}` });
    judgeAnswer(visitor, answer, `404 for ${kind}`);
    judgeUnique(visitor, answer, `404 for ${kind}`);
    visitor.check("not_found_status", answer.status === 404, `${path}: ${said(answer)}`);
  }
}
