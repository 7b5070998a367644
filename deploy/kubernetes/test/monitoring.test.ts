import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { chart, root } from "./lib/paths.ts";

const read = (folder: string, pattern: RegExp) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => pattern.test(file))
    .map((file) => readFileSync(`${folder}/${file}`, "utf8"))
    .join("\n");

const queries = read(`${chart}/monitoring`, /^(alerts\.yaml|dashboard\.json)$/).replaceAll('\\"', '"');
const proxy = ["njs", "templates", "snippets"]
  .map((folder) => read(`${root}/proxy/${folder}`, /\.(js|conf)$/))
  .join("\n");
const spool = read(`${root}/proxy/spool/src`, /\.ts$/);

/** The spool builds its metric names: culvert_spool_<name>, <name>_total for counters. */
const exists = (metric: string) => {
  const [, own] = /^culvert_spool_(.*?)(_total)?$/.exec(metric) ?? [];
  return own
    ? new RegExp(`"${own}(_total)?"|\\b${own}:`).test(spool)
    : proxy.includes(metric.replace(/_(bucket|count|sum)$/, ""));
};

/** Metrics of other components. */
const external = ["certmanager_certificate_ready_status", "certmanager_certificate_expiration_timestamp_seconds"];

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

  test("every alert has a summary, a severity, and a paragraph in the runbook that its runbook_url leads to", () => {
    const alerts = [...queries.matchAll(/- alert: (Culvert\w+)([\s\S]*?)(?=- alert|$)/g)];
    expect(alerts.length).toBeGreaterThan(20);
    const runbook = readFileSync(`${root}/docs/runbook.md`, "utf8");
    const url = "https://github.com/culvert/culvert/blob/main/docs/runbook.md";
    for (const [, name = "", rule = ""] of alerts) {
      expect(rule, name).toMatch(/severity: (critical|warning) }/);
      expect(rule, name).toMatch(new RegExp(`summary: ".+", runbook_url: ${url}#${name.toLowerCase()} `));
      const [, paragraph = ""] = new RegExp(`^### ${name}\n\n(.+(\n.+)*)`, "m").exec(runbook) ?? [];
      expect(paragraph.split(" ").length, name).toBeGreaterThan(15);
    }
    const headings = [...runbook.matchAll(/^### (Culvert\w+)$/gm)].map(([, name]) => name);
    expect(headings).toEqual(alerts.map(([, name]) => name));
  });
});
