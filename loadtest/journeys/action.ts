import { findActionForm, multipart } from "../lib/form.ts";
import { judgeAnswer, judgePage, said } from "../lib/judge.ts";
import { randomHex } from "../lib/random.ts";
import type { Visitor } from "../lib/visitor.ts";
import { judgeUnique } from "./fresh.ts";

/** Submits the page's server action as a browser without JavaScript does: a form post to the page's own address. */
export async function action(visitor: Visitor): Promise<void> {
  const { actionPage: path, baseUrl } = visitor.knobs;
  const page = await visitor.ask({ path, name: path });
  if (!judgePage(visitor, page, path)) return;
  const form = findActionForm(page.body);
  if (!form) return visitor.check("action_ok", false, `${path} has no form with a server action`);

  const { body, contentType } = multipart(form.fields, `loadtest${randomHex(12)}`);
  const headers = { "content-type": contentType, origin: baseUrl };
  const answer = await visitor.ask({ method: "POST", path, name: `${path} (action)`, headers, body });
  judgeAnswer(visitor, answer, `${path} (action)`);
  judgeUnique(visitor, answer, `${path} (action)`);
  visitor.check("action_ok", answer.status === 200 || answer.status === 303, `${path} (action): ${said(answer)}`);
}
