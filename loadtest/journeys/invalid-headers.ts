import type { Client, Response } from "../lib/client.ts";
import { pageTrace } from "../lib/page-trace.ts";
import { nextOf } from "../lib/random.ts";
import { assertResponse, describeResponse } from "../lib/responses.ts";
import { type InvalidHeaders, invalidHeaders as variants } from "../lib/trace/invalid-headers.ts";

/** Requests a page with each of the invalid trace headers that occur in practice. */
export async function invalidHeaders(client: Client): Promise<void> {
  const path = nextOf(client.options.pages);
  for (const sent of variants()) {
    const on = await client.request({ path, kind: "page", headers: sent.headers, untimed: true });
    assertIgnored(client, sent, on);
  }
}

function assertIgnored(client: Client, sent: InvalidHeaders, on: Response): void {
  assertResponse(client, on);
  if (sent.forbidden.length > 0) {
    const whole = [on.body, ...Object.values(on.headers)].join("\n");
    const found = sent.forbidden.filter((text) => whole.includes(text));
    client.check(
      "invalid_headers_echo",
      found.length === 0,
      on,
      `${sent.name}: the response contains ${found.join(", ")}`,
    );
  }
  if (sent.oversized && on.status === 431) return client.check("invalid_headers_page", true);
  const { problem } = pageTrace(on.body);
  // Whether a page may use such a trace is the SDK's choice; an app without traces has none to judge.
  const usable = sent.anyTrace || problem === "" || !client.options.trace;
  const example = `${sent.name}: ${describeResponse(on)} ${problem}`;
  client.check("invalid_headers_page", on.status === 200 && usable, on, example);
}
