import type { Client } from "../lib/client.ts";
import { assertPage, assertResponse, describeResponse, redirectWithin } from "../lib/responses.ts";

/** Follows a redirect. It must stay on the origin that the client used, and lead to REDIRECT_TO. */
export async function redirect(client: Client): Promise<void> {
  const { redirectPage: path, redirectTo, baseUrl } = client.options;
  const first = await client.request({ path, kind: "redirect" });
  assertResponse(client, first);
  const to = redirectWithin(baseUrl, first);
  const example = `${describeResponse(first)}, Location "${first.headers.location ?? ""}"`;
  if (!to) return client.check("redirect_ok", false, first, `${example}, expected a redirect within ${baseUrl}`);
  if (redirectTo && to !== redirectTo)
    return client.check("redirect_ok", false, first, `${example}, expected ${redirectTo}`);
  const second = await client.request({ path: to, kind: "page", untimed: true });
  const ok = assertPage(client, second, to);
  client.check("redirect_ok", ok, second, `${path} redirects here: ${describeResponse(second)}`);
}
