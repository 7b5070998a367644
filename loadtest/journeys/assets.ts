import crypto from "k6/crypto";
import type { Client } from "../lib/client.ts";
import { assets as assetsOf } from "../lib/html.ts";
import { answers, type Response } from "../lib/request.ts";
import { assertPage, assertResponse, describeResponse } from "../lib/responses.ts";

/** How a file of that type ends: a cut one ends elsewhere. */
const TYPES: Record<string, { type: RegExp; end: RegExp }> = {
  js: {
    type: /^(?:text|application)\/(?:javascript|x-javascript)/,
    end: /(?:[;})\]"'`\w]|\/\/[#@] ?source\S+=\S+|\*\/)\s*$/,
  },
  css: { type: /^text\/css/, end: /(?:\}|;|\*\/)\s*$/ },
};

/** A build's files never change. */
const digests = new Map<string, string>();

/** Fetches a page and then, concurrently, the build's files that it references. */
export async function assets(client: Client): Promise<void> {
  const path = client.page();
  const page = await client.request({ path, kind: "page" });
  if (!assertPage(client, page, path)) return;
  const files = assetsOf(page.body);
  if (files.length === 0)
    return client.check("asset_ok", false, page, "the page references no file below /_next/static/");
  const responses = await answers(files.map((file) => client.request({ path: file, kind: "file", name: "asset" })));
  for (const [at, on] of responses.entries()) {
    if (!on) continue;
    assertResponse(client, on);
    const problem = fileProblem(files[at] ?? "", on);
    client.check("asset_ok", problem === "", on, `${path} references it: ${problem}`);
  }
}

function fileProblem(file: string, on: Response): string {
  const { type, end } = TYPES[/\.(\w+)(?:\?|$)/.exec(file)?.[1] ?? ""] ?? {};
  if (on.status !== 200) return describeResponse(on);
  if (type && !type.test(on.headers["content-type"] ?? ""))
    return `not a ${file.replace(/\?.*|.*\./g, "")} file: ${describeResponse(on)}`;
  if (/^\s*<(?:!doctype|html)/i.test(on.body)) return `an HTML page: ${describeResponse(on)}`;
  if (end && (on.body === "" || !end.test(on.body)))
    return `cut: ${on.body.length} characters that end "${on.body.slice(-30)}"`;
  const now = crypto.sha256(on.body, "hex");
  const known = digests.get(file) ?? now;
  digests.set(file, known);
  return known === now ? "" : `it has changed: ${on.body.length} characters with digest ${now}, ${known} before`;
}
