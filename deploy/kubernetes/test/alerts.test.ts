import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { label } from "../../test/support/docker.ts";
import { buildWithDebian } from "../../test/support/images.ts";
import { hasHelm, rendering } from "./lib/chart.ts";
import { docker, hasImages } from "./lib/docker.ts";
import { find, type Part } from "./lib/objects.ts";

const table = readFileSync(new URL("./lib/alert-cases.txt", import.meta.url), "utf8").replace(/^#.*\n/gm, "");
const cases = new Map(
  table
    .trim()
    .split("\n\n")
    .map((lines) => {
      const [head = "", ...series] = lines.trim().split("\n");
      const [alert = "", silentAt = "", firingAt = ""] = head.split(" ");
      const input_series = series.map((line) => {
        const [, namespace, metric, labels, values] = /^ +(\w+) (\w+)\{(.*)\} (.+)$/.exec(line) ?? [];
        return { series: `${metric}{namespace="${namespace}",${labels}}`, values };
      });
      return [alert, { silentAt, firingAt, input_series }];
    }),
);

describe.skipIf(!hasHelm || !hasImages("web"))("alerts", () => {
  const rules: Part = hasHelm ? find(rendering("everything"), "PrometheusRule", "alerts").spec : { groups: [] };
  const alerts: Part[] = rules.groups.flatMap((group: Part) => group.rules);

  let image: string;
  beforeAll(async () => {
    image = await buildWithDebian();
  });

  test("each has a test case", () => {
    expect(alerts.map(({ alert }) => alert).sort()).toEqual([...cases.keys()].sort());
  });

  test("fire for the failing namespace, and for no other", () => {
    const tests = alerts.map(({ alert, labels, annotations }) => {
      const { silentAt, firingAt, input_series } = cases.get(alert) ?? {};
      const text = (template: string) => template.replaceAll("{{ $labels.namespace }}", "failing");
      const exp_annotations = Object.fromEntries(
        Object.entries<string>(annotations).map(([name, value]) => [name, text(value)]),
      );
      const firing = [{ exp_labels: { ...labels, namespace: "failing" }, exp_annotations }];
      return {
        interval: "1m",
        input_series,
        alert_rule_test: [
          ...(silentAt === "-" ? [] : [{ eval_time: `${silentAt}m`, alertname: alert, exp_alerts: [] }]),
          { eval_time: `${firingAt}m`, alertname: alert, exp_alerts: firing },
        ],
      };
    });
    const folder = mkdtempSync(join(tmpdir(), "culvert-"));
    try {
      // JSON is YAML.
      writeFileSync(join(folder, "rules.yaml"), JSON.stringify(rules));
      writeFileSync(join(folder, "tests.yaml"), JSON.stringify({ rule_files: ["rules.yaml"], tests }));
      const run = ["run", "--rm", label, "--network=none", `--volume=${folder}:/alerts:ro`, image, "promtool"];
      expect(docker(...run, "check", "rules", "/alerts/rules.yaml")).toContain(`${alerts.length} rules found`);
      expect(docker(...run, "test", "rules", "/alerts/tests.yaml")).toContain("SUCCESS");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
