import { assertPage, assertResponse, describeResponse } from "../lib/assertions.ts";
import type { Client } from "../lib/client.ts";
import { assets as assetsOf } from "../lib/html.ts";
import { pick } from "../lib/random.ts";

/** Fetches a page and then, concurrently as a browser does, the build's files that it references. */
export async function assets(client: Client): Promise<void> {
  const path = pick(client.options.pages);
  const page = await client.request({ path, name: path });
  if (!assertPage(client, page, path)) return;
  const files = assetsOf(page.body);
  if (files.length === 0) return client.check("asset_ok", false, `${path} references no file below /_next/static/`);
  const responses = await Promise.all(files.map((file) => client.request({ path: file, name: "asset" })));
  responses.forEach((response, at) => {
    assertResponse(client, response, "asset");
    client.check("asset_ok", response.status === 200, `${path} references ${files[at]}: ${describeResponse(response)}`);
  });
}
