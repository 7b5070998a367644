import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { must, run } from "../run.ts";
import { makePair } from "../support/certificate.ts";
import { root } from "../support/docker.ts";
import { buildWithDebian } from "../support/images.ts";
import type { Answer } from "../support/recorder/types.ts";

const folder = mkdtempSync(join(tmpdir(), "culvert-monitoring-"));
const component = join(root, "deploy/kubernetes/components/monitoring");

/** The panels of the dashboard, as far as they are read here. */
export const panels: { title: string; targets: { expr: string }[] }[] = JSON.parse(
  readFileSync(`${component}/dashboard.json`, "utf8"),
).panels;

const rules = readFileSync(`${component}/alerts.yaml`, "utf8");
/** The names of all alerts. */
export const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name ?? "");

/** Settings of the stack, which a test may change before it starts a service again. */
export const environment: Record<string, string> = {
  IMAGES: process.env.COMPOSE_PROJECT_NAME ?? "culvert",
  COMPOSE_PROJECT_NAME: `culvert-monitoring-${process.pid}`,
  COMPOSE_FILE: "docker-compose.yml:deploy/test/monitoring/compose.yml",
  COMPOSE_PROFILES: "monitoring",
  PROMETHEUS_FILES: folder,
  TLS_CERT_FILE: join(folder, "server.crt"),
  TLS_KEY_FILE: join(folder, "server.key"),
  // run.sh sets others by now.
  TUNNEL_PATH: "/monitoring",
  SENTRY_DSN: "http://key@recorder:9000/1",
};

/** Runs `docker compose` with this stack; throws an error with the output on a non-zero exit. */
export const compose = (...args: string[]) => must(["docker", "compose", ...args], environment);

/** Runs a program of Node in the container of Prometheus, and returns its output. */
export const inside = (script: string, ...args: string[]) =>
  compose("exec", "-T", "prometheus", "node", "-e", script, ...args);

/**
 * Starts proxy, spool, both recorders and Prometheus with deploy/monitoring and the alerts of the component, in which every duration of
 * the rules is `faster` times shorter.
 */
export async function start(faster: number, scrapeInterval = "1s"): Promise<void> {
  // For Prometheus' user.
  chmodSync(folder, 0o755);
  makePair(join(folder, "server"), ["localhost"]);
  const monitoring = join(root, "deploy/monitoring");
  writeFileSync(join(folder, "start.sh"), readFileSync(`${monitoring}/start.sh`));
  const configuration = readFileSync(`${monitoring}/prometheus.yml`, "utf8").replaceAll("15s", scrapeInterval);
  writeFileSync(join(folder, "prometheus.yml"), configuration.replace("global:", "global:\n  evaluation_interval: 1s"));
  writeFileSync(join(folder, "alerts.yaml"), shortened(faster));
  environment.PROMETHEUS_IMAGE = await buildWithDebian();
  await compose("up", "-d", "--no-build", "--wait", "proxy", "spool", "app", "recorder", "prometheus");
}

const unitSeconds = { m: 60, h: 3_600 };

/** The rules with shorter durations: ranges, offsets, `for` and the age in seconds. The certificate's days stay, it can be any. */
function shortened(faster: number): string {
  return rules
    .replace(
      /\b(\d+)([mh])\b/g,
      (_, number, unit: "m" | "h") => `${Math.round((number * unitSeconds[unit] * 1_000) / faster)}ms`,
    )
    .replace(/(_age_seconds\) > )(\d+)/, (_, left, seconds) => `${left}${seconds / faster}`);
}

export async function stop(): Promise<void> {
  await run(["docker", "compose", "down", "--volumes", "-t", "0"], environment);
  rmSync(folder, { recursive: true });
}

/**
 * Sends requests to Prometheus' API, all in one `docker exec`, and returns the `data` of each.
 * https://prometheus.io/docs/prometheus/latest/querying/api/
 */
export async function query(path: string, ...requests: Record<string, string>[]) {
  const urls = requests.map((parameters) => `http://127.0.0.1:9090/api/v1/${path}?${new URLSearchParams(parameters)}`);
  const script =
    "Promise.all(process.argv.slice(1).map((url) => fetch(url).then((r) => r.json()))).then((all) => console.log(JSON.stringify(all)))";
  const answers = JSON.parse(await inside(script, ...urls));
  return answers.map(({ data }: { data: unknown }) => data);
}

/** Sets what a recorder answers: `app` stands for web, `recorder` for the ingest. */
export const answer = (service: "app" | "recorder", { status = 200, ...rest }: Partial<Answer>) =>
  inside(
    "fetch(process.argv[1], { method: 'PUT', body: process.argv[2] })",
    `http://${service}:9001/answer`,
    JSON.stringify({ status, headers: { "content-type": "text/html" }, body: "ok", ...rest }),
  );

/** Starts traffic.ts in the background, with requests per second. Each service is another client. */
export const traffic = (
  rates: { pages?: number; envelopes?: number; serverEnvelopes?: number },
  seconds: number,
  service: "prometheus" | "app" = "prometheus",
) =>
  compose(
    ...["exec", "-d", service, "node", "--disable-warning=ExperimentalWarning", "/monitoring/traffic.ts"],
    ...[rates.pages, rates.envelopes, rates.serverEnvelopes, seconds].map((number) => String(number ?? 0)),
  );
