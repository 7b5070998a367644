import { assertPage } from "../lib/assertions.ts";
import type { Client } from "../lib/client.ts";
import { assertFreshTrace } from "../lib/fresh-trace.ts";
import { pick } from "../lib/random.ts";

const REQUESTS = 10;

/**
 * Sends ten requests without a trace at the same moment from one virtual user: if the server mixes up concurrent requests,
 * two of them get the same trace.
 */
export async function concurrent(client: Client): Promise<void> {
  const path = pick(client.options.pages);
  const request = { path, name: `${path} (concurrent)`, untimed: true } as const;
  const requests = Array.from({ length: REQUESTS }, () => client.request(request));
  for (const response of await Promise.all(requests)) {
    if (assertPage(client, response, path)) assertFreshTrace(client, response, path);
  }
}
