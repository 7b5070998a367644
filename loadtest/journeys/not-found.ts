import { assertResponse, describeResponse } from "../lib/assertions.ts";
import type { Client } from "../lib/client.ts";
import { assertUniqueTrace } from "../lib/fresh-trace.ts";
import { randomHex } from "../lib/random.ts";

/** Requests addresses that do not exist: a page, a build file and an API. */
export async function notFound(client: Client): Promise<void> {
  const missing = {
    "a page": `/no-such-page-${randomHex(6)}`,
    "a build file": `/_next/static/chunks/${randomHex(6)}.js`,
    "an API": `/api/no-such-${randomHex(6)}`,
  };
  for (const [kind, path] of Object.entries(missing)) {
    const response = await client.request({ path, name: `404 for ${kind}` });
    assertResponse(client, response, `404 for ${kind}`);
    assertUniqueTrace(client, response, `404 for ${kind}`);
    client.check("not_found_status", response.status === 404, `${path}: ${describeResponse(response)}`);
  }
}
