import type { Client } from "../lib/client.ts";
import { newContext } from "../lib/context.ts";
import { findActionForm, multipart } from "../lib/form.ts";
import { textOf } from "../lib/html.ts";
import { randomHex } from "../lib/random.ts";
import { assertPage, assertResponse, describeResponse } from "../lib/responses.ts";
import { callFailed } from "../lib/upstream.ts";

/** Submits the page's server action as a browser without JavaScript does, and looks for its result. */
export async function action(client: Client): Promise<void> {
  const { actionPage: path, actionForm, actionExpect, dsn } = client.options;
  const page = await client.request({ path, kind: "page" });
  if (!assertPage(client, page, path)) return;
  const fields = findActionForm(page.body, actionForm);
  if (!fields) {
    const which = actionForm ? ` that contains "${actionForm}"` : "";
    return client.check("action_ok", false, page, `the page has no form with a server action${which}`);
  }

  const { body, contentType } = multipart(fields, `loadtest${randomHex(12)}`);
  const sent = newContext(dsn.publicKey, true);
  const headers = { ...sent.headers, "content-type": contentType };
  const on = await client.request({ method: "POST", path, kind: "action", headers, body, traceId: sent.traceId });
  assertResponse(client, on);
  if (on.status === 303) return client.check("action_ok", actionExpect === "", on, `303 instead of "${actionExpect}"`);
  const expected = actionExpect.replaceAll("{trace}", sent.traceId);
  const shown = textOf(on.body);
  // With Cache Components, Next sends the result as data for React.
  const state = /__next_f\.push\(\[2,[^<]*/.exec(on.body)?.[0] ?? "";
  const ok = on.status === 200 && /<\/html>\s*$/i.test(on.body) && (shown + state).includes(expected);
  if (ok && !shown.includes(expected)) client.warn(on, "the action's result is shown with JavaScript only");
  const saysSoAlways = callFailed(textOf(page.body));
  if (!ok && !saysSoAlways && callFailed(shown)) return client.upstreamFailed(on);
  client.check("action_ok", ok, on, `expected "${expected}", got ${describeResponse(on)}: ${shown.slice(0, 120)}`);
  // The server's own transactions say how often it ran.
  if (ok) await client.recordSent({ name: "action", traceId: sent.traceId });
}
