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

const cases = new Map<string, { silentAt?: string; firingAt?: string; input_series: object[] }>();
for (const line of read(`${chart}/test/lib`, /^alert-cases\.txt$/).split("\n")) {
  if (line.startsWith("#")) continue;
  const [, alert, silentAt, firingAt, metric, labels, values = ""] =
    /^(?:(\w+) (\S+) (\S+))? +(\w+)\{(.*)\} ?(.*)$/.exec(line) ?? [];
  if (alert) cases.set(alert, { silentAt, firingAt, input_series: [] });
  for (const [at, namespace] of ["failing", "healthy"].entries()) {
    const own = values.split("|")[at]?.trim();
    const series = `${metric}{namespace="${namespace}",${labels}}`;
    if (own) [...cases.values()].at(-1)?.input_series.push({ series, values: own });
  }
}

test("alerts and dashboard use existing metrics and label values; each alert has a case", () => {
  const used = [...queries.matchAll(/\bculvert_[a-z_]+/g)].map(([name]) => name);
  // The spool builds its metric names: culvert_spool_<name>, <name>_total for counters.
  const exists = (metric: string) => {
    const [, own] = /^culvert_spool_(.*?)(_total)?$/.exec(metric) ?? [];
    if (own) return new RegExp(`"${own}(_total)?"|\\b${own}:`).test(spool);
    return proxy.includes(metric.replace(/_(bucket|count|sum)$/, ""));
  };
  expect(used.filter((name) => !exists(name))).toEqual([]);
  const labels = queries.matchAll(/\b(?:route|outcome|reason|upstream)(?:=|!=|=~)"([a-z_|]+)"/g);
  const values = [...labels].flatMap(([, list]) => list?.split("|") ?? []);
  expect(values.filter((value) => !new RegExp(`[\\s"]${value}[;"]`).test(proxy + spool))).toEqual([]);
  expect([used.length > 10, values.length > 5]).toEqual([true, true]);
  expect(alerts.map(({ alert }) => alert).sort()).toEqual([...cases.keys()].sort());
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

const folder = temporaryFolder();
test.skipIf(!hasImages("web"))("alerts fire for the failing namespace, and for no other", async () => {
  const tests = alerts.map(({ alert: alertname, labels, annotations }) => {
    const { silentAt, firingAt, input_series } = cases.get(alertname) ?? {};
    const exp_annotations = JSON.parse(JSON.stringify(annotations).replaceAll("{{ $labels.namespace }}", "failing"));
    const exp_alerts = [{ exp_labels: { ...labels, namespace: "failing" }, exp_annotations }];
    const silent = { eval_time: `${silentAt}m`, alertname, exp_alerts: [] };
    const firing = { eval_time: `${firingAt}m`, alertname, exp_alerts };
    return { interval: "1m", input_series, alert_rule_test: silentAt === "-" ? [firing] : [silent, firing] };
  });
  // JSON is YAML.
  writeFileSync(join(folder, "rules.yaml"), JSON.stringify(rules));
  writeFileSync(join(folder, "tests.yaml"), JSON.stringify({ rule_files: ["rules.yaml"], tests }));
  const image = await buildWithDebian();
  const run = ["run", "--rm", label, "--network=none", `--volume=${folder}:/alerts:ro`, image, "promtool"];
  expect(await must(...run, "test", "rules", "/alerts/tests.yaml")).toContain("SUCCESS");
});
