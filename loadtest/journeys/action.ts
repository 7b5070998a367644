import { assertPage, assertResponse, describeResponse } from "../lib/assertions.ts";
import type { Client } from "../lib/client.ts";
import { findActionForm, multipart } from "../lib/form.ts";
import { assertUniqueTrace } from "../lib/fresh-trace.ts";
import { randomHex } from "../lib/random.ts";

/** Submits the page's server action as a browser without JavaScript does: a form post to the page's own address. */
export async function action(client: Client): Promise<void> {
  const { actionPage: path, baseUrl } = client.options;
  const page = await client.request({ path, name: path });
  if (!assertPage(client, page, path)) return;
  const form = findActionForm(page.body);
  if (!form) return client.check("action_ok", false, `${path} has no form with a server action`);

  const { body, contentType } = multipart(form.fields, `loadtest${randomHex(12)}`);
  const headers = { "content-type": contentType, origin: baseUrl };
  const name = `${path} (action)`;
  const response = await client.request({ method: "POST", path, name, headers, body });
  assertResponse(client, response, name);
  assertUniqueTrace(client, response, name);
  client.check(
    "action_ok",
    response.status === 200 || response.status === 303,
    `${name}: ${describeResponse(response)}`,
  );
}
