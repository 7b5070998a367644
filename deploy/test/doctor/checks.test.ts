import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PeerCertificate } from "node:tls";
import { describe, expect, test } from "vitest";
import { classify, files } from "../../doctor/checks/certificate.ts";
import { containers, crashed, images, releases } from "../../doctor/checks/containers.ts";
import { clock } from "../../doctor/checks/ingest.ts";
import { applied, dropped, dsns, egress, settingNames, trusted, WITH_DEFAULT } from "../../doctor/checks/settings.ts";
import { clients, disk, envelopes, spool, upgrades } from "../../doctor/checks/traffic.ts";
import { blockers } from "../../doctor/checks/tunnel.ts";
import { checkStack } from "../../doctor/doctor.ts";
import { type Container, type Facts, type LogLine, parseFacts } from "../../doctor/facts.ts";
import { TRACE_PREFIX } from "../../doctor/http.ts";
import { parseMetrics } from "../../doctor/metrics.ts";
import { failed, mask, ok, type Result, unknown } from "../../doctor/result.ts";
import { screen } from "../../doctor/status.ts";
import { root } from "../support/docker.ts";

const now = Date.parse("2026-08-01T12:00:00Z");
const dsn = "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/2";
const image = { id: "sha256:aaaaaaaaaaaaaaaa", tag: "culvert-web", created: "2026-07-20T00:00:00Z", environment: {} };
const web: Container = {
  ...{ service: "web", name: "culvert-web-1", status: "running", health: "healthy", exitCode: 0, restarts: 0 },
  ...{ isService: true, outOfMemory: false, started: "2026-08-01T11:59:00Z", memory: 0.2 },
  ...{ environment: { REGION: "eu" }, image, given: [], networks: ["culvert_egress"], lastLines: [] },
};
const configured = { web: { environment: { REGION: "eu", TUNNEL_PATH: null } } };
const facts = (fault: Partial<Container> = {}, more: Partial<Facts> = {}): Facts => ({
  ...{ configured, containers: [{ ...web, ...fault }], names: { environment: [], file: [], known: [] } },
  ...{ log: [], gateways: [], versions: "" },
  ...more,
});
const one = (fault: Partial<Container>) => containers(facts(fault), now);
const crash = (fault: Partial<Container>) => crashed([{ ...web, ...fault }], now);
const names = (...file: string[]) => settingNames({ environment: [], file, known: ["SENTRY_DSN", "TUNNEL_PATH"] });
const metrics = (prefix: string, ...lines: string[]) => parseMetrics(lines.map((line) => prefix + line).join("\n"));
const queue = (...lines: string[]) => spool(metrics("culvert_spool_", ...lines));
const line = (fields: Partial<LogLine>) => ({ path: "/", trace_id: "", ...fields }) as LogLine;
const ended = (outcome: string, count: number, reason = "") =>
  Array.from({ length: count }, () => line({ outcome, reason }));
const from = (client: string, count: number, trace_id = "") =>
  Array.from({ length: count }, () => line({ client, trace_id }));
const behind = (log: LogLine[], settings = {}) =>
  clients(log, { SERVER_NAME: "app.example.com", ...settings }, ["172.18.0.1"]);
const peer = (validFrom: string, validTo: string, issuer = "R11", alternatives = "DNS:app.example.com") =>
  ({
    ...{ valid_from: validFrom, valid_to: validTo, issuer: { CN: issuer }, subject: { CN: "x" } },
    subjectaltname: alternatives,
  }) as unknown as PeerCertificate;
const fresh = peer("2026-07-01", "2026-09-29");
const development = peer("2026-07-01", "2028-07-01", "Culvert development CA");
const served = (certificate: PeerCertificate, error?: string, context = {}) =>
  classify(certificate, error, { names: ["app.example.com"], ...context }, now);
const pair = (acme: string | undefined, ...lines: string[]) =>
  files({ names: [], acme, metrics: metrics("culvert_certificate_", ...lines) });

describe("each check passes without a fault and names the planted one", () => {
  test.each<[string, Result[], Result[], RegExp]>([
    [
      "a name in .env that nothing reads",
      names("SENTRY_DSN", "COMPOSE_FILE"),
      names("SENTRY_DNS"),
      /SENTRY_DNS in \.env/,
    ],
    [
      "a DSN without a key",
      dsns({ SENTRY_DSN: dsn }),
      dsns({ SENTRY_DSN: "https://sentry.io/2" }),
      /SENTRY_DSN is not/,
    ],
    [
      "a wrong DSN among many",
      dsns({ SENTRY_DSN: dsn, TUNNEL_ALLOWED_DSNS: dsn }),
      dsns({ SENTRY_DSN: dsn, TUNNEL_ALLOWED_DSNS: `${dsn} x` }),
      /TUNNEL_ALLOWED_DSNS/,
    ],
    ["a setting changed since the start", applied(facts()), applied(facts({ environment: {} })), /REGION \(web\)/],
    [
      "an API outside with egress off",
      egress(facts({ environment: { UPSTREAM_URL: "https://api.example.com" }, networks: ["x_egress-on"] })),
      egress(facts({ environment: { UPSTREAM_URL: "https://api.example.com/v1" } })),
      /UPSTREAM_URL .*WEB_EGRESS=on/,
    ],
    [
      "a call outside in the log with egress off",
      egress(facts({ environment: { SENTRY_DSN: dsn, CACHE_URL: "http://cache:1" }, lastLines: ["ready"] })),
      egress(facts({ lastLines: ["Error: getaddrinfo EAI_AGAIN api.example.com", "    at x"] })),
      /EAI_AGAIN api\.example\.com/,
    ],
    [
      "a trusted network that anybody is in",
      trusted({ TRUSTED_PROXIES: "10.0.0.0/8, 192.0.2.7" }),
      trusted({ TRUSTED_PROXIES: "10.0.0.0/8 0.0.0.0/0" }),
      /0\.0\.0\.0\/0/,
    ],
    ["a service without a container", one({}), containers(facts({}, { containers: [] }), now), /has no container/],
    [
      "a service that was stopped",
      one({ status: "exited", isService: false }),
      one({ status: "exited" }),
      /is stopped/,
    ],
    ["an unhealthy container", one({}), one({ health: "unhealthy", lastLines: ["no port"] }), /unhealthy: no port/],
    ["a container close to its memory limit", one({}), one({ memory: 0.95 }), /95 % of its memory/],
    [
      "a crash loop",
      crash({ restarts: 3, started: "2026-08-01T02:00:00Z" }),
      crash({
        status: "restarting",
        restarts: 14,
        lastLines: ["ready", "Error: no PORT", "    at x", "Node.js v24.1.0"],
      }),
      /restarted 14 times: Error: no PORT/,
    ],
    [
      "a container that runs between two crashes",
      crash({}),
      crash({ health: "starting", restarts: 2, lastLines: ["culvert proxy: SERVER_NAME 'x y' is none: set it"] }),
      /restarted 2 times: culvert proxy: SERVER_NAME/,
    ],
    [
      "one that died",
      crash({}),
      crash({ status: "exited", exitCode: 1, lastLines: ["EACCES /data"] }),
      /ended: EACCES/,
    ],
    ["one without memory", crash({}), crash({ status: "restarting", restarts: 1, outOfMemory: true }), /out of memory/],
    [
      "two releases at once",
      releases([web, { ...web, name: "culvert-web-2" }]),
      releases([web, { ...web, name: "culvert-web-2", image: { ...image, id: "sha256:bbbbbbbbbbbbbbbb" } }]),
      /2 releases serve at once: culvert-web-1 .*culvert-web-2 \(bbbb/,
    ],
    [
      "envelopes that have waited for long",
      queue("disk_bytes 4096", "limit_bytes 9999999"),
      queue('queued_envelopes{category="error"} 3', "oldest_envelope_age_seconds 7300"),
      /3 envelopes queued, the oldest for 2 h/,
    ],
    [
      "a spool that is almost full",
      queue("queued_envelopes 0"),
      queue('queued_envelopes{category="error"} 3', "disk_bytes 98", "limit_bytes 100"),
      /98 % full/,
    ],
    ["a full disk", queue("disk_free_bytes 5"), queue("disk_free_bytes 0"), /its disk is full/],
    ["an ingest of the past", queue(), queue("undeliverable_envelopes 4"), /4 envelopes are queued for an ingest/],
    [
      "envelopes that the ingest rejects",
      envelopes(ended("accepted", 90)),
      envelopes([...ended("accepted", 90), ...ended("rejected", 20, "ingest_status_403")]),
      /20 rejected.*ingest_status_403/,
    ],
    [
      "a load balancer that is not named",
      behind([...from("10.0.0.4", 30), ...from("203.0.113.9", 1)]),
      behind([...from("10.0.0.4", 30), ...from("203.0.113.9", 5, `${TRACE_PREFIX}1`), ...from("172.18.0.7", 9)]),
      /all 30 requests .* 10\.0\.0\.4/,
    ],
    ["one on this machine", behind(from("203.0.113.9", 30)), behind(from("172.18.0.1", 30)), /172\.18\.0\.1/],
    ["a path on a blocker's list", blockers("/k7f2a9", dsn), blockers("/api/collect", dsn), /is on their lists/],
    [
      "a clock that is wrong",
      clock("Sat, 01 Aug 2026 12:00:10 GMT", now),
      clock("Sat, 01 Aug 2026 12:01:00 GMT", now),
      /60 s behind/,
    ],
    [
      "a disk that is nearly full",
      disk({ bavail: 9e5, blocks: 1e6, bsize: 4096 }),
      disk({ bavail: 1e5, blocks: 1e6, bsize: 4096 }),
      /0\.4 GB free/,
    ],
    ["a certificate near its end", served(fresh), served(peer("2026-05-12", "2026-08-10")), /8 days left/],
    ["expired", served(fresh), served(peer("2026-05-01", "2026-07-30"), "CERT_HAS_EXPIRED"), /has expired.*TLS_CERT/],
    [
      "expired with ACME=on",
      served(fresh, undefined, { acme: "fine" }),
      served(peer("2026-05-01", "2026-07-30"), "CERT_HAS_EXPIRED", { acme: "port 80 is closed" }),
      /logs acme.*port 80 is closed/,
    ],
    [
      "a second name without a certificate",
      served(peer("2026-07-01", "2026-09-29", "R11", "DNS:app.example.com, DNS:www.example.com")),
      served(fresh, undefined, { names: ["app.example.com", "www.example.com"] }),
      /^www\.example\.com: the certificate is for app\.example\.com/,
    ],
    ["without its chain", served(fresh), served(fresh, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"), /fullchain/],
    ["of development, for a public name", served(fresh), served(development, "X"), /set ACME=on, or TLS_CERT_FILE/],
    ["of development, with ACME=on", served(fresh), served(development, "X", { acme: "no DNS" }), /none yet.*no DNS/],
    [
      "a pair on disk that will not load",
      pair(undefined, "rejected 0"),
      pair(undefined, "rejected 1"),
      /cannot be loaded/,
    ],
    [
      "a renewal that fails",
      pair("fine", "renewal_failures 0"),
      pair("no DNS", "renewal_failures 4"),
      /4 times.*no DNS/,
    ],
  ])("%s", (_, good, bad, words) => {
    expect(good.map(({ state }) => state)).not.toContain("failed");
    const wrong = bad.filter(({ state }) => state === "failed");
    expect(wrong).toHaveLength(1);
    expect(`${wrong[0]?.found} ${wrong[0]?.fix}`).toMatch(words);
    expect(wrong[0]?.fix).toBeTruthy();
  });
});

test.each<[string, Result[]]>([
  ["a restart long ago", one({ restarts: 1, started: "2026-07-01T00:00:00Z" })],
  ["envelopes that wait for a moment", queue('queued_envelopes{category="error"} 3', "oldest_envelope_age_seconds 4")],
  ["a few rejected envelopes, which anyone can send", envelopes(ended("rejected", 2, "arguments"))],
  ["no envelope at all", envelopes([])],
  ["a WebSocket outside WEBSOCKET_PATH", upgrades([line({ reason: "upgrade_refused", path: "/socket" })])],
  ["old images", images([{ ...web, image: { ...image, created: "2026-05-20T00:00:00Z" } }], now)],
  ["a path that is blocked with arguments only", blockers("/monitoring", dsn)],
  ["a development certificate behind a load balancer", served(development, "X", { isInner: true })],
])("%s decides nothing", (_, results) => {
  expect(results.map(({ state }) => state)).toContain("unknown");
  expect(results.map(({ state }) => state)).not.toContain("failed");
});

test("in a crash loop, its last line is all that is said", async () => {
  const broken = facts({ status: "restarting", restarts: 9, lastLines: ["Error: DATABASE_URL is not set"] });
  expect(await checkStack(broken, "", "")).toEqual([
    failed("web", "restarted 9 times: Error: DATABASE_URL is not set", "docker logs --tail 50 culvert-web-1"),
  ]);
});

describe("the settings that a new container would lose", () => {
  const none = { environment: [], file: [], known: [] };
  const local = { SENTRY_DSN: "http://culvert@ingest:8969/1", CONSOLE: "", SERVER_TUNNEL: "http://proxy:8083/new" };
  const configured = { web: { environment: { ...local, REGION: null, CONTENT_SECURITY_POLICY: "" } } };
  const typed = { SENTRY_DSN: dsn, CONSOLE: "off", REGION: "eu", SENTRY_RELEASE: "1" };
  const running = { ...web, environment: { ...typed, SERVER_TUNNEL: "http://proxy:8083/old" } };

  test("are those that were typed for one start; a default that follows the DSN is not one of its own", () => {
    const lost = (container: Partial<Container>, names: Partial<Record<keyof typeof none, string[]>>) =>
      dropped({ configured, containers: [{ ...running, ...container }], names: { ...none, ...names } });
    expect(lost({}, {})).toEqual(["REGION", "SENTRY_DSN"]);
    expect(lost({ given: ["WEB_IMAGE"] }, { file: ["SENTRY_DSN"] })).toEqual(["REGION", "WEB_IMAGE"]);
    const off = { ...running.environment, CONTENT_SECURITY_POLICY: "off" };
    expect(lost({ given: ["WEB_IMAGE"], environment: off }, {})).toEqual(["REGION", "SENTRY_DSN", "WEB_IMAGE"]);
    // Given again, empty or not, in the shell; or set by the image.
    const own = { ...image, environment: { REGION: "eu" } };
    expect(lost({ image: own }, { environment: ["SENTRY_DSN"] })).toEqual([]);
    expect(lost({ environment: { ...local, CONSOLE: "off" } }, {})).toEqual(["CONSOLE"]);
    expect(lost({ status: "exited" }, {})).toEqual([]);
  });

  test("the settings to which the compose file gives a value are known", () => {
    const compose = readFileSync(join(root, "docker-compose.yml"), "utf8");
    const withDefault = [...compose.matchAll(/^ {2,6}([A-Z0-9_]+): \$\{\1:-(?!\})/gm)].map(([, name]) => name);
    expect([...new Set(withDefault)].sort()).toEqual(WITH_DEFAULT);
  });
});

test("what compose resolves: a $, which it writes twice, and names that only its services have", () => {
  const config = JSON.stringify({ services: { web: { environment: { OWN_NAME: "a$$b$$$$c" } }, bare: {} } });
  const { configured, names } = parseFacts(`== config\n${config}\n== known\nSENTRY_DSN\n`);
  expect(configured).toEqual({ web: { environment: { OWN_NAME: "a$b$$c" } }, bare: { environment: {} } });
  expect(names.known).toEqual(["SENTRY_DSN", "OWN_NAME"]);
});

test("no secret is printed, and the local ingest's key, a word of its own, masks nothing", () => {
  const key = "0123456789abcdef0123456789abcdef";
  const environments = [
    { CACHE_PASSWORD: "hunter22", CACHE_URL: "rediss://me:s3cret99@cache", TUNNEL_ALLOWED_DSNS: `x ${dsn}` },
    { SENTRY_AUTH_TOKEN: "tok-123456", TLS_KEY_FILE: "/key.pem", SENTRY_DSN: "http://culvert@ingest:8969/1" },
  ];
  const text = mask(
    `${dsn} ${key} hunter22 s3cret99 tok-123456 ?sentry_key=short http://a:b@ingest/1 /key.pem culvert`,
    environments,
  );
  for (const secret of [key, "hunter22", "s3cret99", "tok-123456", "sentry_key=short", "a:b@"])
    expect(text).not.toContain(secret);
  expect(text).toMatch(/o1\.ingest\.sentry\.io\/2.*\/key\.pem culvert$/);
});

test("the status of a stack: containers with their images, certificate, queue", () => {
  const proxy = metrics(
    "culvert_",
    "certificate_expiry_timestamp_seconds 1788264000",
    'pages_total{kind="page",outcome="shed"} 1',
  );
  const spool = metrics("culvert_spool_", 'queued_envelopes{category="error"} 3', "oldest_envelope_age_seconds 7300");
  const log = [...ended("accepted", 3), line({ outcome: "accepted", time: "12:00" })];
  const text = screen(facts({}, { log, versions: "Nginx 1.30.0, Next 16.0.1" }), proxy, spool, now).join("\n");
  for (const part of [
    /versions +Nginx 1\.30\.0, Next 16\.0\.1/,
    /web +culvert-web-1 healthy for 60 s, image culvert-web of 2026-07-20, 20 % of its memory/,
    /certificate +31 days left, until 2026-09-01/,
    /pages +1 of 1 shed/,
    /envelopes +last five minutes: 4 accepted, last accepted 12:00/,
    /spool +3 envelopes queued, the oldest for 2 h/,
  ])
    expect(text).toMatch(part);
});

test("results are of three kinds", () => {
  expect([ok("a", "b"), unknown("a", "b"), failed("a", "b", "c")].map(({ state }) => state)).toEqual([
    "ok",
    "unknown",
    "failed",
  ]);
});
