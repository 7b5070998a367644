import { assertResponse, describeResponse } from "../lib/assertions.ts";
import type { Client } from "../lib/client.ts";

/** Follows a redirect. It must stay on the origin that the client used, not the one the app is configured with. */
export async function redirect(client: Client): Promise<void> {
  const { redirectPage: path, baseUrl } = client.options;
  const first = await client.request({ path, name: path });
  assertResponse(client, first, path);
  const { location = "" } = first.headers;
  const to = location.startsWith(baseUrl) ? location.slice(baseUrl.length) : location;
  if (![301, 302, 303, 307, 308].includes(first.status) || !to.startsWith("/") || to.startsWith("//")) {
    return client.check("redirect_ok", false, `${path}: ${describeResponse(first)}, Location "${location}"`);
  }
  const second = await client.request({ path: to, name: `${path} (followed)` });
  assertResponse(client, second, to);
  client.check("redirect_ok", second.status === 200, `${path} redirects to ${to}: ${describeResponse(second)}`);
}
