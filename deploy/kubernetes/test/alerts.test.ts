import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { label, must, root } from "../../test/support/docker.ts";
import { buildWithDebian } from "../../test/support/images.ts";
import { chart } from "./lib/chart.ts";
import { hasImages } from "./lib/kubelet.ts";
import { type Part, temporaryFolder } from "./lib/objects.ts";

const read = (folder: string, pattern: RegExp) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => pattern.test(file))
    .map((file) => readFileSync(`${folder}/${file}`, "utf8"))
    .join("\n");
const queries = read(`${chart}/monitoring`, /^(alerts\.yaml|dashboard\.json)$/).replaceAll('\\"', '"');
const proxy = ["njs", "templates", "snippets"].map((folder) => read(`${root}proxy/${folder}`, /\.(js|conf)$/)).join();
const spool = read(`${root}proxy/spool/src`, /\.ts$/);
const rules = parse(readFileSync(`${chart}/monitoring/alerts.yaml`, "utf8")).spec;
const alerts: Part[] = rules.groups.flatMap((group: Part) => group.rules);

interface Case {
  /** When the alert does not fire yet, or any more. */
  silent?: string;
  warning?: string;
  critical?: string;
  series: Record<string, { bad?: string; good?: string }>;
}
// All scalars are strings: 0x120 is no number.
const cases: Record<string, Case> = parse(readFileSync(`${chart}/test/alerts.yaml`, "utf8"), { schema: "failsafe" });

test("alerts and dashboard use existing metrics and label values; each alert has a case", () => {
  const used = [...queries.matchAll(/\bculvert_[a-z_]+/g)].map(([name]) => name);
  // The spool builds its metric names: culvert_spool_<name>, <name>_total for counters.
  const exists = (metric: string) => {
    const [, name] = /^culvert_spool_(.*?)(_total)?$/.exec(metric) ?? [];
    if (name) return new RegExp(`"${name}(_total)?"|\\b${name}:`).test(spool);
    return proxy.includes(metric.replace(/_(bucket|count|sum)$/, ""));
  };
  expect(used.filter((name) => !exists(name))).toEqual([]);
  const labels = queries.matchAll(/\b(?:route|outcome|reason|upstream)(?:=|!=|=~)"([a-z_|]+)"/g);
  const values = [...labels].flatMap(([, list]) => list?.split("|") ?? []);
  expect(values.filter((value) => !new RegExp(`[\\s"]${value}[;"]`).test(proxy + spool))).toEqual([]);
  expect([used.length > 10, values.length > 5]).toEqual([true, true]);
  expect(Object.keys(cases)).toEqual(alerts.map(({ alert }) => alert));
});

test("every alert has a summary, a severity, and a paragraph at its runbook_url", () => {
  const runbook = readFileSync(`${root}docs/runbook.md`, "utf8");
  const url = "https://github.com/culvert/culvert/blob/main/docs/runbook.md";
  for (const { alert, labels, annotations } of alerts) {
    expect(labels.severity, alert).toMatch(/^(critical|warning)$/);
    const runbook_url = `${url}#${alert.toLowerCase()}`;
    expect(annotations, alert).toMatchObject({ summary: expect.stringMatching(/./), runbook_url });
    expect(runbook).toMatch(new RegExp(`^### ${alert}\n\n.{60}`, "m"));
  }
  expect([...runbook.matchAll(/^### (Culvert\w+)$/gm)].map(([, name]) => name)).toEqual(
    alerts.map(({ alert }) => alert),
  );
});

const testsOfPromtool = Object.entries(cases).map(([alertname, { silent, series, ...firing }]) => {
  const input_series = Object.entries(series).flatMap(([name, inNamespaces]) => {
    const [metric, labels = ""] = name.split(/[{}]/);
    return Object.entries(inNamespaces).map(([namespace, values]) => {
      return { series: `${metric}{namespace="${namespace}",${labels}}`, values };
    });
  });
  const [[severity, eval_time] = []] = Object.entries(firing);
  const exp_alerts = [{ exp_labels: { namespace: "bad", severity } }];
  const quiet = silent ? [{ eval_time: silent, alertname }] : [];
  return { input_series, alert_rule_test: [...quiet, { eval_time, alertname, exp_alerts }] };
});

const folder = temporaryFolder();
test.skipIf(!hasImages("web"))("alerts fire for the bad namespace, and for no other", async () => {
  // Without annotations, which promtool would compare: the test above has read them.
  const groups = rules.groups.map((group: Part) => ({
    ...group,
    rules: group.rules.map(({ annotations, ...rule }: Part) => rule),
  }));
  writeFileSync(join(folder, "rules.yaml"), JSON.stringify({ groups }));
  writeFileSync(join(folder, "tests.yaml"), JSON.stringify({ rule_files: ["rules.yaml"], tests: testsOfPromtool }));
  const image = await buildWithDebian();
  const run = ["run", "--rm", label, "--network=none", `--volume=${folder}:/alerts:ro`, image, "promtool"];
  expect(await must(...run, "test", "rules", "/alerts/tests.yaml")).toContain("SUCCESS");
});
