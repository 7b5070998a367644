import { assets as assetsOf } from "../lib/html.ts";
import { judgeAnswer, judgePage, said } from "../lib/judge.ts";
import { pick } from "../lib/random.ts";
import type { Visitor } from "../lib/visitor.ts";

/** Fetches a page and, all at once as a browser does, the build's files that it names. */
export async function assets(visitor: Visitor): Promise<void> {
  const path = pick(visitor.knobs.pages);
  const page = await visitor.ask({ path, name: path });
  if (!judgePage(visitor, page, path)) return;
  const files = assetsOf(page.body);
  if (files.length === 0) return visitor.check("asset_ok", false, `${path} names no file below /_next/static/`);
  const answers = await Promise.all(files.map((file) => visitor.ask({ path: file, name: "asset" })));
  answers.forEach((answer, at) => {
    judgeAnswer(visitor, answer, "asset");
    visitor.check("asset_ok", answer.status === 200, `${path} names ${files[at]}: ${said(answer)}`);
  });
}
