import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { composeWith, must, temporary, withServices } from "./run.ts";
import { root } from "./support/docker.ts";
import { buildWithDebian } from "./support/images.ts";
import { bodyOf, Recorder } from "./support/recorder/client.ts";

// Beside the tests' stack. What each alert needs to fire is in deploy/kubernetes/test/alerts.test.ts.
const example = readFileSync(`${root}/deploy/monitoring/alertmanager.example.yml`, "utf8");
const config = example.replace("https://alerts.example.com/hook", "http://recorder:9000/alerts");
const file = temporary("alertmanager.yml", config.replace("group_wait: 30s", "group_wait: 1s"));
// With Debian's programs, whose package has no folder whose owner the volume would get.
const image = await buildWithDebian();
const answers = (port: number) => `healthcheck: { test: [CMD, bash, -c, "exec 3<>/dev/tcp/127.0.0.1/${port}"] }`;
const settings = withServices(`
  prometheus: { image: "${image}", ports: !reset [], ${answers(9090)} },
  alertmanager: {
    image: "${image}", ports: !reset [], ${answers(9093)}, entrypoint: [prometheus-alertmanager],
    volumes: !override ["${file}:/etc/alertmanager/alertmanager.yml:ro"]
  } }
volumes: { prometheus: { driver_opts: { type: tmpfs, device: tmpfs, o: "uid=65534,gid=65534" } }`);
const compose = composeWith({ ...settings, COMPOSE_PROFILES: "monitoring,alertmanager" });

beforeAll(() => compose("up", "-d", "--no-build", "--no-deps", "--wait", "prometheus", "alertmanager"));
afterAll(async () => {
  await compose("rm", "--force", "--stop", "prometheus", "alertmanager");
  await must(["docker", "volume", "rm", `${process.env.COMPOSE_PROJECT_NAME}_prometheus`]);
});

async function request(service: string, url: string, options: RequestInit = {}): Promise<string> {
  const script = `fetch("${url}", ${JSON.stringify(options)}).then((response) => response.text()).then(console.log)`;
  return compose("exec", "-T", service, "node", "-e", script);
}

/** The `data` of Prometheus' API: https://prometheus.io/docs/prometheus/latest/querying/api/ */
const query = async (path: string) =>
  JSON.parse(await request("prometheus", `http://127.0.0.1:9090/api/v1/${path}`)).data;

test("Prometheus finds proxy and spool by their names, and loads every alert", async () => {
  type Series = { metric: Record<"namespace" | "instance", string>; value: [number, string] };
  const line = ({ metric, value }: Series) => `${metric.namespace} ${metric.instance.split(":")[1]} ${value[1]}`;
  const up = async () => (await query("query?query=up")).result.map(line).sort();
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
  const recorder = new Recorder();
  const mark = await recorder.count();
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify([{ labels: { alertname: "CulvertSiteDown", severity: "critical" } }]);
  await request("alertmanager", "http://127.0.0.1:9093/api/v2/alerts", { method: "POST", headers, body });
  const sent = await recorder.waitFor((received) => (received.url === "/alerts" ? received : undefined), mark);
  expect(JSON.parse(bodyOf(sent))).toMatchObject({
    alerts: [{ status: "firing", labels: { alertname: "CulvertSiteDown" } }],
  });
});
