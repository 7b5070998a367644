import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { must, run } from "./run.ts";
import { root } from "./support/docker.ts";
import { buildWithDebian } from "./support/images.ts";
import { Recorder } from "./support/recorder/client.ts";

// Beside the tests' stack. What each alert needs to fire is in deploy/kubernetes/test/alerts.test.ts.
const folder = mkdtempSync(join(tmpdir(), "culvert-monitoring-"));
const environment: Record<string, string> = {
  COMPOSE_FILE: `${process.env.COMPOSE_FILE}:deploy/test/monitoring.compose.yml`,
  COMPOSE_PROFILES: "monitoring,alertmanager",
  ALERTMANAGER_FILE: join(folder, "alertmanager.yml"),
};
const compose = (...command: string[]) => run(["docker", "compose", ...command], environment);

beforeAll(async () => {
  environment.PROMETHEUS_IMAGE = await buildWithDebian();
  const example = readFileSync(`${root}/deploy/monitoring/alertmanager.example.yml`, "utf8");
  const own = example.replace("https://alerts.example.com/hook", "http://recorder:9000/alerts");
  writeFileSync(join(folder, "alertmanager.yml"), own.replace("group_wait: 30s", "group_wait: 1s"));
  const up = ["docker", "compose", "up", "--detach", "--no-build", "--no-deps", "--wait", "prometheus", "alertmanager"];
  await must(up, environment);
});
afterAll(async () => {
  await compose("rm", "--force", "--stop", "prometheus", "alertmanager");
  rmSync(folder, { recursive: true });
  await run(["docker", "volume", "rm", `${process.env.COMPOSE_PROJECT_NAME}_prometheus`]);
});

/** Requests an address from within a container, and returns the body of the response. */
async function request(service: string, url: string, options: RequestInit = {}): Promise<string> {
  const script = `fetch("${url}", ${JSON.stringify(options)}).then((response) => response.text()).then(console.log)`;
  return (await compose("exec", "-T", service, "node", "-e", script)).output;
}

/** The `data` of Prometheus' API: https://prometheus.io/docs/prometheus/latest/querying/api/ */
const query = async (path: string) =>
  JSON.parse(await request("prometheus", `http://127.0.0.1:9090/api/v1/${path}`)).data;

test("Prometheus finds proxy and spool by their names, and loads every alert", async () => {
  type Series = { metric: { namespace: string; instance: string }; value: [number, string] };
  const up = async () =>
    (await query("query?query=up")).result
      .map(({ metric, value }: Series) => `${metric.namespace} ${metric.instance.split(":")[1]} ${value[1]}`)
      .sort();
  await expect.poll(up).toEqual(["compose 8081 1", "compose 8082 1"]);
  const { groups } = await query("rules?type=alert");
  const loaded = groups.flatMap(({ rules }: { rules: { name: string }[] }) => rules.map(({ name }) => name));
  const rules = readFileSync(`${root}/deploy/kubernetes/monitoring/alerts.yaml`, "utf8");
  expect(loaded).toEqual([...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name));
});

test("Prometheus finds the Alertmanager, which sends alerts as its example says", async () => {
  await expect
    .poll(async () => (await query("alertmanagers")).activeAlertmanagers)
    .toEqual([{ url: expect.stringMatching(/:9093\/api\/v2\/alerts$/) }]);
  const recorder = new Recorder(`http://127.0.0.1:${process.env.RECORDER_PORT}`);
  const mark = await recorder.count();
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify([{ labels: { alertname: "CulvertSiteDown", severity: "critical" } }]);
  await request("alertmanager", "http://127.0.0.1:9093/api/v2/alerts", { method: "POST", headers, body });
  const sent = await recorder.waitFor(({ url, body }) => (url === "/alerts" ? body : undefined), mark);
  expect(JSON.parse(Buffer.from(sent, "base64").toString())).toMatchObject({
    alerts: [{ status: "firing", labels: { alertname: "CulvertSiteDown" } }],
  });
});
