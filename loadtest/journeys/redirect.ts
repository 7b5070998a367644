import type { Client } from "../lib/client.ts";
import { assertPage, assertResponse, describeResponse, redirectWithin } from "../lib/responses.ts";

/** Follows a redirect, with and without a query. Browsers keep a permanent or cacheable one for good. */
export async function redirect(client: Client): Promise<void> {
  const { redirectPage, redirectTo, redirectStatus, baseUrl } = client.options;
  for (const path of [redirectPage, `${redirectPage}?from=a%20link&n=1`]) {
    const first = await client.request({ path, kind: "redirect", name: redirectPage });
    assertResponse(client, first);
    const to = redirectWithin(baseUrl, first);
    const { location = "", "cache-control": cache = "" } = first.headers;
    const example = `${describeResponse(first)}, Location "${location}", Cache-Control "${cache}"`;
    const fail = (expected: string) => client.check("redirect_ok", false, first, `${example}, expected ${expected}`);
    if (!to) return fail(`a redirect within ${baseUrl}`);
    if (redirectTo && to.replace(/\?.*/, "") !== redirectTo) return fail(redirectTo);
    if (redirectStatus && first.status !== redirectStatus) return fail(`status ${redirectStatus}`);
    if (!redirectStatus && /301|308/.test(`${first.status}`)) return fail("a temporary one: else set REDIRECT_STATUS");
    if (!/301|308/.test(`${redirectStatus}`) && /(max-age|s-maxage)=[1-9]|immutable/.test(cache))
      return fail("no caching");
    const second = await client.request({ path: to, kind: "page", untimed: true });
    const ok = assertPage(client, second, to.replace(/\?.*/, ""));
    client.check("redirect_ok", ok, second, `${path} redirects here: ${describeResponse(second)}`);
  }
}
