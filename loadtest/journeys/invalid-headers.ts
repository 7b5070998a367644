import { assertResponse, describeResponse } from "../lib/assertions.ts";
import type { Client, Response } from "../lib/client.ts";
import { pageTrace } from "../lib/page-trace.ts";
import { pick } from "../lib/random.ts";
import { type InvalidHeaders, invalidHeaders as variants } from "../lib/trace/invalid-headers.ts";

/** Requests a page with each of the invalid trace headers that occur in practice. */
export async function invalidHeaders(client: Client): Promise<void> {
  const path = pick(client.options.pages);
  for (const sent of variants()) {
    const response = await client.request({ path, name: `${path} (invalid headers)`, headers: sent.headers });
    assertIgnored(client, sent, `${path} with ${sent.name}`, response);
  }
}

function assertIgnored(client: Client, sent: InvalidHeaders, where: string, response: Response): void {
  assertResponse(client, response, where);
  if (sent.forbidden.length > 0) {
    const whole = [response.body, ...Object.values(response.headers)].join("\n");
    const found = sent.forbidden.filter((text) => whole.includes(text));
    client.check("invalid_headers_echo", found.length === 0, `${where}: the response contains ${found.join(", ")}`);
  }
  if (sent.oversized && response.status === 431) return client.check("invalid_headers_page", true);
  const { trace, problem } = pageTrace(response.body);
  // If two traces contradict each other, a page may use either.
  const usable = sent.conflicting ? trace !== undefined : problem === "";
  const ok = response.status === 200 && usable;
  client.check("invalid_headers_page", ok, `${where}: ${describeResponse(response)}, ${problem}`);
}
