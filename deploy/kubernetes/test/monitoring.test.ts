import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { kubernetes, root } from "./lib/paths.ts";

const read = (folder: string, pattern: RegExp) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => pattern.test(file))
    .map((file) => readFileSync(`${folder}/${file}`, "utf8"))
    .join("\n");

const queries = read(`${kubernetes}/components/monitoring`, /^(alerts\.yaml|dashboard\.json)$/).replaceAll('\\"', '"');
const proxy = ["njs", "templates", "snippets"]
  .map((folder) => read(`${root}/proxy/${folder}`, /\.(js|conf)$/))
  .join("\n");
const spool = read(`${root}/proxy/spool/src`, /\.ts$/);

/** The spool builds its metric names: culvert_spool_<name>, <name>_total for counters. */
const exists = (metric: string) => {
  const [, own] = /^culvert_spool_(.*?)(_total)?$/.exec(metric) ?? [];
  return own ? new RegExp(`"${own}(_total)?"|\\b${own}:`).test(spool) : proxy.includes(metric);
};

/** Metrics of other components. */
const external = ["certmanager_certificate_expiration_timestamp_seconds"];

describe("alerts and dashboard", () => {
  test("use existing metrics only", () => {
    const used = [...queries.matchAll(/\b(?:culvert|certmanager)_[a-z_]+/g)].map(([name]) => name);
    expect(used.filter((name) => !external.includes(name) && !exists(name))).toEqual([]);
    expect(used.length).toBeGreaterThan(10);
  });

  test("use existing routes, outcomes and reasons only", () => {
    const values = [...queries.matchAll(/\b(?:route|outcome|reason|upstream)(?:=|!=|=~)"([a-z_|]+)"/g)].flatMap(
      ([, list]) => list?.split("|") ?? [],
    );
    expect(values.filter((value) => !new RegExp(`[\\s"]${value}[;"]`).test(proxy + spool))).toEqual([]);
    expect(values.length).toBeGreaterThan(5);
  });

  test("every alert has a summary and a description", () => {
    const count = (pattern: RegExp) => queries.match(pattern)?.length;
    expect([count(/summary: \w/g), count(/description: "\w/g)]).toEqual([
      count(/alert: Culvert/g),
      count(/alert: Culvert/g),
    ]);
  });
});
