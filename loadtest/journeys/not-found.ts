import type { Client } from "../lib/client.ts";
import { randomHex } from "../lib/random.ts";
import { assertResponse, assertUniqueTrace, describeResponse, redirectWithin } from "../lib/responses.ts";

/** Requests addresses that do not exist: a page, a build file and an API. */
export async function notFound(client: Client): Promise<void> {
  const missing = {
    page: `/no-such-page-${randomHex(6)}`,
    file: `/_next/static/chunks/${randomHex(6)}.js`,
    API: `/api/no-such-${randomHex(6)}`,
  };
  for (const [name, path] of Object.entries(missing)) {
    let on = await client.request({ path, kind: "404", name });
    // The app may redirect every address first: with `trailingSlash`, or to a language.
    const to = redirectWithin(client.options.baseUrl, on);
    if (to) on = await client.request({ path: to, kind: "404", name });
    assertResponse(client, on);
    assertUniqueTrace(client, on);
    client.check("not_found_status", on.status === 404, on, describeResponse(on));
  }
}
