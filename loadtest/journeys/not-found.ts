import type { Client } from "../lib/client.ts";
import { randomHex } from "../lib/random.ts";
import { assertResponse, assertUniqueTrace, describeResponse } from "../lib/responses.ts";

/** Requests addresses that do not exist: a page, a build file and an API. */
export async function notFound(client: Client): Promise<void> {
  const missing = {
    page: `/no-such-page-${randomHex(6)}`,
    file: `/_next/static/chunks/${randomHex(6)}.js`,
    API: `/api/no-such-${randomHex(6)}`,
  };
  for (const [name, path] of Object.entries(missing)) {
    let on = await client.request({ path, kind: "404", name });
    // With `trailingSlash` Next redirects every address first.
    if (on.status === 308 && on.headers.location?.endsWith(`${path}/`))
      on = await client.request({ path: `${path}/`, kind: "404", name });
    assertResponse(client, on);
    assertUniqueTrace(client, on);
    client.check("not_found_status", on.status === 404, on, describeResponse(on));
  }
}
