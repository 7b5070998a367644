import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { must, run } from "./run.ts";
import { root } from "./support/docker.ts";
import { buildImage } from "./support/images.ts";

interface Panel {
  title: string;
  targets: { expr: string }[];
}

const component = join(root, "deploy/kubernetes/components/monitoring");
const panels: Panel[] = JSON.parse(readFileSync(`${component}/dashboard.json`, "utf8")).panels;
const alerts = [...readFileSync(`${component}/alerts.yaml`, "utf8").matchAll(/- alert: (\w+)/g)].map(
  ([, name]) => name,
);

const environment: Record<string, string> = {
  IMAGES: process.env.COMPOSE_PROJECT_NAME ?? "culvert",
  COMPOSE_PROJECT_NAME: `culvert-monitoring-${process.pid}`,
  COMPOSE_FILE: "docker-compose.yml:deploy/test/monitoring.compose.yml",
  COMPOSE_PROFILES: "monitoring",
  // run.sh sets another one by now.
  TUNNEL_PATH: "/monitoring",
  SENTRY_DSN: "http://key@ingest.invalid:9000/1",
};
const compose = (...args: string[]) => must(["docker", "compose", ...args], environment);

beforeAll(async () => {
  environment.PROMETHEUS_IMAGE = await buildImage("deploy/test/prometheus");
  await compose("up", "-d", "--no-build", "--wait", "proxy", "spool", "prometheus");
}, 300_000);
afterAll(() => run(["docker", "compose", "down", "--volumes", "-t", "0"], environment));

/**
 * Sends requests to Prometheus' API, all in one `docker exec`, and returns the `data` of each.
 * https://prometheus.io/docs/prometheus/latest/querying/api/
 */
async function query(path: string, ...requests: Record<string, string>[]) {
  const urls = requests.map((parameters) => `http://127.0.0.1:9090/api/v1/${path}?${new URLSearchParams(parameters)}`);
  const script =
    "Promise.all(process.argv.slice(1).map((url) => fetch(url).then((r) => r.json()))).then((all) => console.log(JSON.stringify(all)))";
  const answers = JSON.parse(await compose("exec", "-T", "prometheus", "node", "-e", script, ...urls));
  return answers.map(({ data }: { data: unknown }) => data);
}

/** Sends an envelope and requests a page: the spool queues and then expires the one, web is not there for the other. */
async function use(): Promise<void> {
  const curl = ["exec", "-T", "proxy", "curl", "-ksS", "-o", "/dev/null", "-H", "Host: localhost"];
  const envelope = '{}\n{"type":"event"}\n{}\n';
  await compose(
    ...curl,
    "-H",
    "Content-Type: text/plain",
    "--data-binary",
    envelope,
    "https://127.0.0.1:8443/monitoring",
  );
  await compose(...curl, "https://127.0.0.1:8443/");
}

test("Prometheus loads every alert", async () => {
  const [{ groups }] = await query("rules", { type: "alert" });
  const loaded = groups.flatMap(({ rules }: { rules: { name: string; health: string }[] }) => rules);
  expect(loaded.map(({ name }: { name: string }) => name)).toEqual(alerts);
});

/** Deletes the spool's database while an envelope is queued, and starts it again. */
async function loseDatabase(): Promise<void> {
  const inSpool = (line: string) => compose("exec", "-T", "spool", "sh", "-c", `cd /var/lib/spool && ${line}`);
  const isRecorded = async () => {
    await use();
    return JSON.parse(await inSpool("cat spool.count")).queued > 0;
  };
  await expect.poll(isRecorded, { timeout: 60_000 }).toBe(true);
  await inSpool("rm spool.db spool.db-wal");
  await compose("kill", "spool");
  await compose("start", "spool");
}

// More than the timeouts within, and what their last round and the spool's restart take.
test("every panel of the dashboard has data", { timeout: 420_000 }, async () => {
  const start = String(Date.now() / 1_000 - 60);
  await loseDatabase();
  let empty = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));
  const remaining = async () => {
    await use();
    const end = String(Date.now() / 1_000);
    const texts = empty.map(({ expr }) =>
      expr.replaceAll("$namespace", "compose").replaceAll("$__rate_interval", "1m"),
    );
    const answers = await query("query_range", ...texts.map((query) => ({ query, start, end, step: "5" })));
    empty = empty.filter((_, index) => !(answers[index]?.result.length > 0));
    return empty;
  };
  await expect.poll(remaining, { timeout: 200_000 }).toEqual([]);
});
