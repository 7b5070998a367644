import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FiltersEngine, Request, type RequestType } from "@ghostery/adblocker";
import { root } from "../../deploy/test/support/docker.ts";

/** An ad-blocker with uBlock Origin's lists. */
export interface Blocklists {
  /** The rule that blocks a page's request to its own origin, or undefined. `type` is the browser's resource type: fetch, script … */
  rule(path: string, type: string): string | undefined;
}

// Playwright's resource types that the engine names differently.
const types: Record<string, RequestType> = { fetch: "xmlhttprequest", xhr: "xmlhttprequest", document: "main_frame" };

/** Loads EasyList, EasyPrivacy and uBlock Origin's lists into an engine; returns undefined if they are unavailable. */
export function loadBlocklists(): Blocklists | undefined {
  const folder = execFileSync("sh", ["deploy/test/blocklists.sh"], { cwd: root, encoding: "utf8" }).trim();
  // Another version's lists may block other paths; proxy/README.md names the version.
  const [, version] = /uBlock Origin ([\d.]+) ships/.exec(readFileSync(`${root}/proxy/README.md`, "utf8")) ?? [];
  if (!folder || !readFileSync(join(folder, "../manifest.json"), "utf8").includes(`"${version}"`)) return undefined;
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".txt"));
  const text = files.map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
  // Unoptimized, so that each rule keeps its own text.
  const options = { debug: true, enableOptimizations: false, loadCosmeticFilters: false };
  const engine = FiltersEngine.parse(text, options);
  return {
    rule: (path, type) => {
      const origin = "https://app.example";
      const url = `${origin}${path}`;
      const request = Request.fromRawDetails({ url, sourceUrl: origin, type: types[type] ?? (type as RequestType) });
      const { match, filter } = engine.match(request);
      return match ? (filter?.rawLine ?? "a rule") : undefined;
    },
  };
}
