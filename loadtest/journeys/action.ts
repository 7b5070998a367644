import type { Client } from "../lib/client.ts";
import { newContext } from "../lib/context.ts";
import { findActionForm, multipart } from "../lib/form.ts";
import { unescapeHtml } from "../lib/html.ts";
import { randomHex } from "../lib/random.ts";
import { assertPage, assertResponse, describeResponse } from "../lib/responses.ts";
import { callFailed } from "../lib/upstream.ts";

/** Submits the page's server action as a browser without JavaScript does, and looks for the action's result on the page. */
export async function action(client: Client): Promise<void> {
  const { actionPage: path, actionForm, actionExpect, baseUrl, dsn } = client.options;
  const page = await client.request({ path, kind: "page" });
  if (!assertPage(client, page, path)) return;
  const form = findActionForm(page.body, actionForm);
  if (!form) {
    const which = actionForm ? ` that contains "${actionForm}"` : "";
    return client.check("action_ok", false, page, `the page has no form with a server action${which}`);
  }
  const { body, contentType } = multipart(form.fields, `loadtest${randomHex(12)}`);
  const sent = newContext(dsn.publicKey, true);
  const headers = { ...sent.headers, "content-type": contentType, origin: baseUrl };
  const on = await client.request({ method: "POST", path, kind: "action", headers, body, traceId: sent.traceId });
  assertResponse(client, on);
  if (on.status === 303) return client.check("action_ok", actionExpect === "", on, `303 instead of "${actionExpect}"`);
  const expected = actionExpect.replaceAll("{trace}", sent.traceId);
  const shown = unescapeHtml(on.body.replace(/<!--[\s\S]*?-->/g, ""));
  const ok = on.status === 200 && /<\/html>\s*$/i.test(on.body) && shown.includes(expected);
  if (!ok && callFailed(shown)) return client.upstreamFailed(on);
  client.check("action_ok", ok, on, `expected "${expected}", got ${describeResponse(on)}: ${textOf(on.body)}`);
}

/** The first words of a page, which say what came instead of the result. */
function textOf(html: string): string {
  const body = html.slice(Math.max(0, html.search(/<body/i))).replace(/<(script|style)[\s\S]*?<\/\1>/gi, " ");
  return unescapeHtml(body.replace(/<[^>]*>/g, " "))
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 120);
}
