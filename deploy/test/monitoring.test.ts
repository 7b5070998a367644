import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { must, run } from "./run.ts";
import { root } from "./support/docker.ts";
import { buildWithDebian } from "./support/images.ts";

// Beside the tests' stack. What each alert needs to fire is in deploy/kubernetes/test/alerts.test.ts.
const environment: Record<string, string> = {
  COMPOSE_FILE: `${process.env.COMPOSE_FILE}:deploy/test/monitoring.compose.yml`,
  COMPOSE_PROFILES: "monitoring",
};
const compose = (...command: string[]) => run(["docker", "compose", ...command], environment);

beforeAll(async () => {
  environment.PROMETHEUS_IMAGE = await buildWithDebian();
  await must(["docker", "compose", "up", "--detach", "--no-build", "--no-deps", "--wait", "prometheus"], environment);
});
afterAll(async () => {
  await compose("rm", "--force", "--stop", "prometheus");
  await run(["docker", "volume", "rm", `${process.env.COMPOSE_PROJECT_NAME}_prometheus`]);
});

interface Series {
  metric: { namespace: string; instance: string };
  value: [number, string];
}

/** The `data` of Prometheus' API: https://prometheus.io/docs/prometheus/latest/querying/api/ */
async function query(path: string) {
  const script = `fetch("http://127.0.0.1:9090/api/v1/${path}").then((response) => response.text()).then(console.log)`;
  return JSON.parse((await compose("exec", "-T", "prometheus", "node", "-e", script)).output).data;
}

test("Prometheus finds proxy and spool by their names, and loads every alert", async () => {
  const up = async () =>
    (await query("query?query=up")).result
      .map(({ metric, value }: Series) => `${metric.namespace} ${metric.instance.split(":")[1]} ${value[1]}`)
      .sort();
  await expect.poll(up).toEqual(["compose 8081 1", "compose 8082 1"]);
  const { groups } = await query("rules?type=alert");
  const loaded = groups.flatMap(({ rules }: { rules: { name: string }[] }) => rules.map(({ name }) => name));
  const rules = readFileSync(`${root}/deploy/kubernetes/components/monitoring/alerts.yaml`, "utf8");
  expect(loaded).toEqual([...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name));
});
