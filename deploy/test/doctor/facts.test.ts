import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { containers } from "../../doctor/checks/containers.ts";
import { clock } from "../../doctor/checks/ingest.ts";
import { baseImages, disk } from "../../doctor/checks/machine.ts";
import { settingNames } from "../../doctor/checks/setting-names.ts";
import { applied, dropped, dsns, WITH_DEFAULT } from "../../doctor/checks/setting-values.ts";
import { spool } from "../../doctor/checks/spool.ts";
import { clientAddresses, outcomes, upgrades } from "../../doctor/checks/traffic.ts";
import { blockers } from "../../doctor/checks/tunnel.ts";
import { type Container, parseFacts } from "../../doctor/facts.ts";
import { parseMetrics } from "../../doctor/metrics.ts";
import type { Result } from "../../doctor/result.ts";
import { root } from "../support/docker.ts";

const now = Date.parse("2026-08-01T12:00:00Z");
const known = ["SENTRY_DSN", "TUNNEL_PATH", "HTTPS_PORT", "HTTP_PORT"];
const names = (environment: string[], file: string[]) => settingNames({ environment, file, known });
const web: Container = {
  service: "web",
  name: "culvert-web-1",
  status: "running",
  health: "healthy",
  exitCode: 0,
  restarts: 0,
  restarted: true,
  outOfMemory: false,
  started: "2026-08-01T11:59:00Z",
  memory: 0.2,
  environment: { REGION: "eu" },
  image: {},
  given: [],
};
const configured = { web: { environment: { REGION: "eu", TUNNEL_PATH: null } } };
const one = (fault: Partial<Container>) => containers(configured, [{ ...web, ...fault }], now);
const queue = (...lines: string[]) => spool(parseMetrics(lines.map((line) => `culvert_spool_${line}`).join("\n")), 512);
const clients = (list: Record<string, number>, forged = "127.0.0.1", settings = {}) =>
  clientAddresses(
    { forged, clients: Object.entries(list).map(([address, count]) => ({ address, count })) },
    { SERVER_NAME: "app.example.com", ...settings },
  );
const ended = (outcome: string, count: number, reason = "") => ({ outcome, reason, count });
const built = (created: string) => baseImages([{ name: "nginx:1.30", created }], now);
const dsn = "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/2";

describe("each check of facts passes without a fault and names the planted one", () => {
  test.each<[string, Result[], Result[], RegExp]>([
    [
      "a mistyped setting in .env",
      names([], ["SENTRY_DSN"]),
      names([], ["SENTRY_DNS"]),
      /SENTRY_DNS in \.env .*SENTRY_DSN\?/,
    ],
    [
      "a mistyped setting in the shell",
      names(["HTTP_PROXY", "SENTRY_ORG"], []),
      names(["TUNEL_PATH"], []),
      /TUNEL_PATH .*TUNNEL_PATH\?/,
    ],
    ["a name in .env that nothing reads", names([], ["COMPOSE_FILE"]), names([], ["DATABASE"]), /DATABASE in \.env/],
    [
      "a DSN without a key",
      dsns({ SENTRY_DSN: dsn }),
      dsns({ SENTRY_DSN: "https://sentry.io/2" }),
      /SENTRY_DSN is not a DSN/,
    ],
    [
      "a wrong DSN among many",
      dsns({ SENTRY_DSN: dsn, TUNNEL_ALLOWED_DSNS: dsn }),
      dsns({ SENTRY_DSN: dsn, TUNNEL_ALLOWED_DSNS: `${dsn} x` }),
      /TUNNEL_ALLOWED_DSNS/,
    ],
    [
      "a setting that was changed since the start",
      applied(configured, [web]),
      applied(configured, [{ ...web, environment: {} }]),
      /REGION \(web\)/,
    ],
    ["a service without a container", one({}), containers(configured, [], now), /has no container/],
    ["a container that has died", one({}), one({ status: "exited", exitCode: 137 }), /is exited \(exit status 137\)/],
    [
      "a service that was stopped",
      one({ status: "exited", restarted: false }),
      one({ status: "exited" }),
      /was stopped/,
    ],
    ["a container that is unhealthy", one({}), one({ health: "unhealthy" }), /is unhealthy/],
    ["a container that was just restarted", one({}), one({ restarts: 2 }), /restarted 2 times/],
    ["a container close to its memory limit", one({}), one({ memory: 0.95 }), /95 % of its memory/],
    [
      "envelopes that have waited for long",
      queue("disk_bytes 4096"),
      queue('queued_envelopes{category="error"} 3', "oldest_envelope_age_seconds 7300"),
      /3 envelopes queued, the oldest for 2 h/,
    ],
    [
      "a spool that is almost full",
      queue(),
      queue('queued_envelopes{category="error"} 3', "disk_bytes 526133493"),
      /98 % full/,
    ],
    [
      "envelopes for an ingest that is no longer configured",
      queue("undeliverable_envelopes 0"),
      queue("undeliverable_envelopes 4"),
      /4 envelopes are queued for an ingest/,
    ],
    [
      "envelopes that the ingest rejects",
      outcomes([ended("accepted", 90)]),
      outcomes([ended("accepted", 90), ended("rejected", 20, "ingest_status_403")]),
      /20 rejected.*ingest_status_403/,
    ],
    [
      "a forged client address that is believed",
      clients({ "203.0.113.9": 1 }),
      clients({}, "192.0.2.77"),
      /forged X-Forwarded-For is believed/,
    ],
    ["the same, truncated", clients({}, "127.0.0.0"), clients({}, "192.0.2.0"), /forged X-Forwarded-For is believed/],
    [
      "a load balancer that is not trusted",
      clients({ "10.0.0.4": 30, "10.0.0.5": 1 }),
      clients({ "10.0.0.4": 30 }),
      /all 30 requests .* 10\.0\.0\.4/,
    ],
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
  ])("%s", (_, good, bad, words) => {
    expect(good.map(({ state }) => state)).not.toContain("failed");
    const wrong = bad.filter(({ state }) => state === "failed");
    expect(wrong).toHaveLength(1);
    expect(`${wrong[0]?.found} ${wrong[0]?.fix}`).toMatch(words);
    expect(wrong[0]?.fix).toBeTruthy();
  });
});

describe("the settings that a new container would lose", () => {
  const none = { environment: [], file: [], known: [] };
  const local = { SENTRY_DSN: "http://culvert@ingest:8969/1", CONSOLE: "", SERVER_TUNNEL: "http://proxy:8083/new" };
  const configured = { web: { environment: { ...local, REGION: null, CONTENT_SECURITY_POLICY: "" } } };
  const running = {
    ...web,
    environment: {
      SENTRY_DSN: dsn,
      CONSOLE: "off",
      REGION: "eu",
      SERVER_TUNNEL: "http://proxy:8083/old",
      SENTRY_RELEASE: "1",
    },
  };

  test("are those that were typed for one start; a default that follows the DSN is not one of its own", () => {
    const lost = (container: Partial<Container>, names: Partial<Record<keyof typeof none, string[]>>) =>
      dropped({ configured, containers: [{ ...running, ...container }], names: { ...none, ...names } });
    expect(lost({}, {})).toEqual(["REGION", "SENTRY_DSN"]);
    expect(lost({ given: ["WEB_IMAGE"] }, { file: ["SENTRY_DSN"] })).toEqual(["REGION", "WEB_IMAGE"]);
    const off = { ...running.environment, CONTENT_SECURITY_POLICY: "off" };
    expect(lost({ given: ["WEB_IMAGE"], environment: off }, {})).toEqual(["REGION", "SENTRY_DSN", "WEB_IMAGE"]);
    // Given again, empty or not, in the shell; or set by the image.
    expect(lost({ image: { REGION: "eu" } }, { environment: ["SENTRY_DSN"] })).toEqual([]);
    expect(lost({ environment: { ...local, CONSOLE: "off" } }, {})).toEqual(["CONSOLE"]);
    expect(lost({ status: "exited" }, {})).toEqual([]);
  });

  test("the settings to which the compose file gives a value are known", () => {
    const compose = readFileSync(join(root, "docker-compose.yml"), "utf8");
    const withDefault = [...compose.matchAll(/^ {2,6}([A-Z0-9_]+): \$\{\1:-/gm)].map(([, name]) => name);
    expect(withDefault.sort()).toEqual(WITH_DEFAULT);
  });
});

describe("a stack that was started with a DSN that neither the shell nor .env has now", () => {
  const local = { SENTRY_DSN: "http://culvert@ingest:8969/1" };
  const now = { web: { environment: local }, ingest: { environment: {} } };
  const running = [{ ...web, environment: { SENTRY_DSN: dsn } }];

  test("is told to keep it in .env, not to start again, which would move its events", () => {
    const [result] = applied(now, running);
    expect(result).toMatchObject({ state: "failed", found: expect.stringContaining("SENTRY_DSN (web)") });
    expect(result?.fix).toMatch(/ into \.env/);
    expect(JSON.stringify([result, containers(now, running, 0)])).not.toContain("make up");
  });
  test("does not lack the local ingest, but any other service", () => {
    const states = (services: typeof now | Record<string, { environment: Record<string, string> }>) =>
      containers(services, running, 0).map(({ check, state }) => `${check} ${state}`);
    expect(states({ ...now, proxy: { environment: {} } })).toEqual(["ingest unknown", "proxy failed", "web ok"]);
    expect(states({ web: { environment: { SENTRY_DSN: dsn } }, ingest: { environment: {} } })).toEqual([
      "ingest failed",
      "web ok",
    ]);
  });
});

test("what compose resolves: a $, which it writes twice, and names that only its services have", () => {
  const config = JSON.stringify({ services: { web: { environment: { OWN_NAME: "a$$b$$$$c" } }, bare: {} } });
  const { configured, names } = parseFacts(`== config\n${config}\n== known\nSENTRY_DSN\n`);
  expect(configured).toEqual({ web: { environment: { OWN_NAME: "a$b$$c" } }, bare: { environment: {} } });
  expect(names.known).toEqual(["SENTRY_DSN", "OWN_NAME"]);
});

test.each<[string, Result[]]>([
  ["a restart long ago", one({ restarts: 1, started: "2026-07-01T00:00:00Z" })],
  ["envelopes that wait for a moment", queue('queued_envelopes{category="error"} 3', "oldest_envelope_age_seconds 4")],
  ["a few rejected envelopes, which anyone can send", outcomes([ended("rejected", 2, "arguments")])],
  ["no envelope at all", outcomes([])],
  ["a WebSocket outside WEBSOCKET_PATH", upgrades(parseFacts("== upgrades\n2 /bot\n9 /socket\n").upgrades)],
  ["a base image dated last month: an official one has the date of its Dockerfile", built("2026-06-20T00:00:00Z")],
  ["a path that is blocked with arguments only", blockers("/monitoring", dsn)],
])("%s decides nothing", (_, results) => {
  expect(results.map(({ state }) => state)).toContain("unknown");
  expect(results.map(({ state }) => state)).not.toContain("failed");
});
