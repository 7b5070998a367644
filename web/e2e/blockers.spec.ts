import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FiltersEngine, Request, type RequestType } from "@ghostery/adblocker";
import { root } from "../../deploy/test/support/docker.ts";
import { expect, test } from "./fixtures.ts";

// EasyList, EasyPrivacy and uBlock Origin's lists.
let engine: FiltersEngine;
test.beforeAll(() => {
  const folder = execFileSync("sh", ["deploy/test/blocklists.sh"], { cwd: root, encoding: "utf8" }).trim();
  // Another version's lists may block other paths.
  const [, version] = /uBlock Origin ([\d.]+) ships/.exec(readFileSync(`${root}/proxy/README.md`, "utf8")) ?? [];
  const isVersion = folder && readFileSync(join(folder, "../manifest.json"), "utf8").includes(`"${version}"`);
  test.skip(!isVersion, "needs Debian's package of the uBlock Origin that proxy/README.md names");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".txt"));
  const rules = files.map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
  // Unoptimized, so that each rule keeps its own text.
  engine = FiltersEngine.parse(rules, { debug: true, enableOptimizations: false, loadCosmeticFilters: false });
});

function rule(path: string, type: RequestType = "xmlhttprequest"): string | undefined {
  const sourceUrl = "https://app.example";
  const { match, filter } = engine.match(Request.fromRawDetails({ url: sourceUrl + path, sourceUrl, type }));
  return match ? (filter?.rawLine ?? "a rule") : undefined;
}

test("the addresses in proxy/README.md are blocked or not as documented", () => {
  const arguments_ = "?o=1&p=2&r=us";
  expect(rule("/monitoring")).toBeUndefined();
  expect(rule("/monitoring/csp", "csp_report")).toBeUndefined();
  expect(rule(`/monitoring${arguments_}`)).toBe("/monitoring?o=$xmlhttprequest");
  expect(rule(`/k7f2a9${arguments_}`)).toBeUndefined();
  expect(rule("/1iwdson")).toBeUndefined();
  expect(rule("/api/2/envelope/?sentry_key=a")).toBe("/?sentry_key=");
});
