import type { Client } from "../lib/client.ts";
import { navigationHeaders, navigationPath } from "../lib/navigation.ts";
import { randomHex } from "../lib/random.ts";
import { assertResponse, assertUniqueTrace, describeResponse, redirectWithin } from "../lib/responses.ts";

/** Requests addresses that do not exist. */
export async function notFound(client: Client): Promise<void> {
  const { baseUrl, navigation } = client.options;
  const from = client.page();
  const missing: Record<string, string> = {
    page: `/no-such-page-${randomHex(6)}`,
    "page below": `${from.replace(/[/?].*$|$/, "")}/no-such/page-${randomHex(6)}`,
    ...(navigation ? { link: navigationPath(`/no-such-page-${randomHex(6)}`, client.probed[from]?.hash ?? "") } : {}),
    file: `/_next/static/chunks/${randomHex(6)}.js`,
    API: `/api/no-such-${randomHex(6)}`,
  };
  for (const [name, path] of Object.entries(missing)) {
    const headers = name === "link" ? navigationHeaders(from) : {};
    const as = name === "file" ? "script" : /page/.test(name) ? "document" : "fetch";
    let on = await client.request({ path, kind: "404", name, headers, as });
    // The app may redirect every address first: with `trailingSlash`, or to a language.
    const to = redirectWithin(baseUrl, on);
    if (to) on = await client.request({ path: to, kind: "404", name, headers, as });
    assertResponse(client, on);
    assertUniqueTrace(client, on);
    client.check("not_found_status", on.status === 404, on, describeResponse(on));
  }
}
