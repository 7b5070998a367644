import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { alerts, answer, compose, environment, panels, query, start, stop, traffic } from "./monitoring/stack.ts";

const startOfTest = String(Date.now() / 1_000);
const eventually = { timeout: 600_000, interval: 1_000 };

beforeAll(async () => {
  // A flood is above the first within seconds, requests that hang above the second.
  Object.assign(environment, { TUNNEL_RATE_PER_CLIENT: "12", MAX_CONCURRENT_PAGES_PER_REPLICA: "12" });
  // Twelve seconds for a quarter of an hour.
  await start(75);
  await traffic({ pages: 6, envelopes: 8, serverEnvelopes: 8 }, 1_000);
});
afterAll(stop);

/** The names of the alerts that a query of Prometheus' own series `ALERTS` finds. */
async function alertsOf(series: string): Promise<string[]> {
  const [{ result }] = await query("query", { query: `count by (alertname) (${series})` });
  return result.map(({ metric }: { metric: { alertname: string } }) => metric.alertname).sort();
}

/** Waits until each of these alerts fires, or has since the start. That no other one does is shown with generated series (alerts.test.ts). */
async function expectToFire(...names: string[]): Promise<void> {
  for (const name of names) fired.add(name);
  const missing = async () => {
    const firing = await alertsOf('max_over_time(ALERTS{alertstate="firing"}[1h])');
    return names.filter((name) => !firing.includes(name));
  };
  await expect.poll(missing, eventually).toEqual([]);
}
const fired = new Set<string>();
/** Only promtool shows these: they need the metrics of Kubernetes, deploy/acme, a disk that is full, or hours. */
const elsewhere = [
  "NoReplica",
  "PagesSlow",
  "ContainerRestarts",
  "Memory",
  "SpoolFills",
  "CertificateExpired",
  "RenewalFails",
];

test("Prometheus loads every alert", async () => {
  const [{ groups }] = await query("rules", { type: "alert" });
  const loaded = groups.flatMap(({ rules }: { rules: { name: string; health: string }[] }) => rules);
  expect(loaded.map(({ name }: { name: string }) => name)).toEqual(alerts);
});

test("none is even pending when pages and envelopes are accepted", async () => {
  const enough = [
    "culvert_requests_total{route='page',class='2xx'}",
    "culvert_tunnel_envelopes_total{outcome='accepted'}",
    "culvert_server_envelopes_total{outcome='accepted'}",
    "culvert_spool_oldest_envelope_age_seconds",
    "culvert_certificate_expiry_timestamp_seconds",
  ];
  const samples = async () => {
    const answers = await query(
      "query",
      ...enough.map((series) => ({ query: `sum(count_over_time(${series}[10m]))` })),
    );
    return answers.map(({ result }: { result: { value: string[] }[] }) => Number(result[0]?.value[1] ?? 0) >= 8);
  };
  await expect.poll(samples, eventually).toEqual(enough.map(() => true));
  // Not over all time: on a busy machine seconds pass, which stand for minutes here, until proxy and spool are found.
  await expect.poll(() => alertsOf("ALERTS"), eventually).toEqual([]);
});

test("web answers 500, the ingest 403; a flood, a killed worker, a certificate near its end", {
  timeout: 1_800_000,
}, async () => {
  await answer("app", { status: 500 });
  await answer("recorder", { status: 403 });
  await traffic({ envelopes: 40 }, 60);
  // One hour of two days is left. Copied over the file, as a renewed one is.
  const time = (hours: number) => `$(date -u -d @$(($(date +%s) + ${hours} * 3600)) +%Y%m%d%H%M%SZ)`;
  const request = `openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -not_before ${time(-47)} -not_after ${time(1)} -keyout /dev/stdout 2>/dev/null`;
  const pem = await compose("exec", "-T", "proxy", "sh", "-c", request);
  // The container ends and starts again.
  await compose(
    "exec",
    "-T",
    "proxy",
    "sh",
    "-c",
    "kill -9 $(grep -l '^nginx: worker' /proc/[0-9]*/cmdline | cut -d/ -f3 | head -n 1)",
  );
  const part = (name: string) => new RegExp(`-----BEGIN ${name}-----[^]*-----END ${name}-----\n?`).exec(pem)?.[0] ?? "";
  writeFileSync(environment.TLS_CERT_FILE ?? "", part("CERTIFICATE"));
  writeFileSync(environment.TLS_KEY_FILE ?? "", part("PRIVATE KEY"));
  await expectToFire(
    "CulvertSiteDown",
    "CulvertPagesFail",
    "CulvertEnvelopesRejected",
    "CulvertEnvelopesRateLimited",
    "CulvertProxyRestarts",
    "CulvertCertificateExpires",
  );
  writeFileSync(environment.TLS_KEY_FILE ?? "", "half a file");
  await expectToFire("CulvertCertificateRejected");
});

test("web and ingest cut connections; the spool's database is deleted", async () => {
  await answer("app", { instead: "reset" });
  await answer("recorder", { instead: "reset" });
  await loseDatabase();
  await expectToFire(
    "CulvertWebUnreachable",
    "CulvertIngestUnreachable",
    "CulvertEnvelopesLost",
    "CulvertEnvelopesQueued",
  );
});

/** Deletes the spool's database while an envelope is queued, and starts it again. */
async function loseDatabase(): Promise<void> {
  const inSpool = (line: string) => compose("exec", "-T", "spool", "sh", "-c", `cd /var/lib/spool && ${line}`);
  const isRecorded = async () => JSON.parse(await inSpool("cat spool.count")).queued > 0;
  await expect.poll(isRecorded).toBe(true);
  await inSpool("rm spool.db spool.db-wal");
  await compose("kill", "spool");
  await compose("start", "spool");
}

test("the spool alone is started with another DSN, then what is queued expires; web hangs", {
  timeout: 1_800_000,
}, async () => {
  await answer("app", { instead: "hang" });
  environment.SENTRY_DSN = "http://key@recorder:9000/2";
  await compose("up", "-d", "--no-build", "--no-deps", "spool");
  await expectToFire("CulvertPagesShed", "CulvertEnvelopesUndeliverable", "CulvertDsnsDiffer");
  environment.SPOOL_MAX_AGE = "1s";
  await compose("up", "-d", "--no-build", "--no-deps", "spool");
  await expectToFire("CulvertEnvelopesDropped");
});

test("the spool is stopped, then the proxy", async () => {
  await compose("stop", "spool");
  await expectToFire("CulvertSpoolGone", "CulvertEnvelopesFail", "CulvertServerEnvelopesFail");
  await compose("stop", "proxy");
  await expectToFire("CulvertProxyGone");
});

test("every alert has fired", () =>
  expect([...fired, ...elsewhere.map((name) => `Culvert${name}`)].sort()).toEqual([...alerts].sort()));

test("every panel of the dashboard has data", async () => {
  let empty = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));
  const remaining = async () => {
    const end = String(Date.now() / 1_000);
    const texts = empty.map(({ expr }) =>
      expr.replaceAll("$namespace", "compose").replaceAll("$__rate_interval", "10s"),
    );
    const answers = await query(
      "query_range",
      ...texts.map((query) => ({ query, start: startOfTest, end, step: "1" })),
    );
    empty = empty.filter((_, index) => !(answers[index]?.result.length > 0));
    return empty;
  };
  await expect.poll(remaining, eventually).toEqual([]);
});
