import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { build } from "../../deploy/test/support/images.ts";
import { starts } from "./starts.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const SENTRY_DSN = "https://key@o1.ingest.sentry.io/2";

/** For each setting of the proxy a valid value, from which invalid ones are made. */
const examples: Record<string, string> = {
  SENTRY_DSN,
  TUNNEL_ALLOWED_DSNS: "https://key@o2.ingest.sentry.io/3",
  TUNNEL_PATH: "/monitoring",
  BASE_PATH: "/shop",
  HEALTH_PATH: "/healthz",
  SPOOL_UPSTREAM: "spool:8082",
  TUNNEL_CLIENT_IP: "forward",
  TUNNEL_RATE_PER_CLIENT: "50",
  REQUEST_RATE_PER_CLIENT: "100",
  MAX_CONCURRENT_REQUESTS_PER_CLIENT: "300",
  MAX_CONCURRENT_REQUESTS: "3000",
  MAX_CONCURRENT_PAGES_PER_REPLICA: "20",
  TRUSTED_PROXIES: "10.0.0.0/8",
  PROXY_PROTOCOL: "off",
  INTERNAL_NETWORK: "culvert_inside",
  WEBSOCKET_PATH: "/socket",
  HTTP3: "on",
  CONTENT_SECURITY_POLICY: "report",
  HSTS_MAX_AGE: "3600",
  ASSET_RETENTION: "7d",
  MAX_BODY_SIZE: "100m",
  RESPONSE_TIMEOUT: "5m",
  SERVER_NAME: "app.example.com",
  HTTPS_PORT: "8443",
  ACME: "on",
  TLS_CERT_FILE: "/var/lib/culvert/tls/server.crt",
  TLS_KEY_FILE: "/var/lib/culvert/tls/server.key",
  INGEST_CA_FILE: "/etc/ssl/certs/ca-certificates.crt",
  WEB_UPSTREAM: "web:3000",
  WEB_FALLBACK_UPSTREAM: "web-all:3000",
};

/** Invalid for every setting. NUL cannot be tried: the environment ends a value there. */
const bad = (good: string) => [
  `${good}\n`,
  `\n${good}`,
  `${good}\nerror_log /tmp/evil;`,
  `${good}"`,
  `${good};`,
  `${good}$uri`,
  `${good}}`,
  `${good}\\`,
  `${good}\x1b[2J`,
  `${good} -`,
  `${good}é`,
  `${good}*`,
  "a".repeat(300),
  `/${"a".repeat(300)}`,
  ...(/^\d/.test(good) ? [`0${good}`, `-${good}`, `+${good}`, `${good}.5`, `0x1`, "9".repeat(20)] : []),
];

// Hundreds of starts, each of several processes.
vi.setConfig({ testTimeout: 300_000 });
beforeAll(() => build());

test("every setting that the compose file gives the proxy is tried", () => {
  const compose = read("docker-compose.yml");
  const part = (from: string, to: string) => compose.slice(compose.indexOf(from), compose.indexOf(to));
  const given = part("x-telemetry:", "x-hardened:") + part("\n  proxy:\n", "\n    secrets:");
  const names = [...given.matchAll(/^ +([A-Z][A-Z0-9_]+):/gm)].map((match) => match[1]);
  expect(Object.keys(examples)).toEqual(expect.arrayContaining(names));
});

test("the examples themselves are accepted", async () => {
  // Without a network there is no internal one either: internal-network.test.ts.
  const none = { TLS_CERT_FILE: "", TLS_KEY_FILE: "", PROXY_PROTOCOL: "", INTERNAL_NETWORK: "" };
  const [outcome] = await starts([{ ...examples, ...none }]);
  expect(outcome).toEqual({
    code: 0,
    output: expect.stringContaining("started for https://o1.ingest.sentry.io/api/2"),
  });
});

test("an invalid value is rejected with one line that names the setting", async () => {
  const tried = Object.entries(examples).flatMap(([name, good]) => bad(good).map((value) => ({ name, value })));
  // Of a certificate's two files the first is looked at first; without one, the development certificate is made.
  const TLS_CERT_FILE = examples.TLS_CERT_FILE ?? "";
  const settings = tried.map(({ name, value }) => {
    const others: Record<string, string> = name === "TLS_KEY_FILE" ? { SENTRY_DSN, TLS_CERT_FILE } : { SENTRY_DSN };
    return { ...others, [name]: value };
  });
  const [, ...outcomes] = await starts([{ SENTRY_DSN }, ...settings]);
  expect(outcomes).toHaveLength(tried.length);
  const wrong = tried.filter(({ name }, i) => {
    const { code, output } = outcomes[i] ?? { code: -1, output: "" };
    return code !== 1 || !new RegExp(`^culvert proxy: ${name} [ -~]+: [ -~]+$`).test(output);
  });
  expect(wrong.map((one) => ({ ...one, ...outcomes[tried.indexOf(one)] }))).toEqual([]);
});

describe("a DSN, as every parser reads it", () => {
  const { valid, invalid } = JSON.parse(read("deploy/test/vectors/dsn.json")) as {
    valid: Record<string, string>;
    invalid: string[];
  };
  /** Names, addresses and ports that Nginx does not accept, or would read in another way than the spool. */
  const unusable = [
    "-a",
    "a-",
    ".a",
    "a..b",
    "a.1",
    "1.2.3",
    "256.1.1.1",
    "0x7f.0.0.1",
    "[]",
    "[1:2]",
    "[::1]9000",
    "a:0",
    "a:65536",
  ];
  test("valid ones become an upstream and the address for the spool", async () => {
    const outcomes = await starts(Object.keys(valid).map((dsn) => ({ SENTRY_DSN: dsn })));
    const addresses = outcomes.map(({ output }) => /^started for (.*)$/.exec(output.split("\n").at(-1) ?? "")?.[1]);
    // The spool compares addresses as the URL standard writes them.
    expect(addresses.map((address) => address && new URL(address).href)).toEqual(Object.values(valid));
  });
  test("one that is listed twice, and two keys of one project", async () => {
    const TUNNEL_ALLOWED_DSNS = "https://a:x@o1.ingest.sentry.io/2 https://b@o1.ingest.sentry.io/2";
    const [outcome] = await starts([{ SENTRY_DSN: "https://a@o1.ingest.sentry.io/2", TUNNEL_ALLOWED_DSNS }]);
    expect(outcome?.output).toContain("started for https://o1.ingest.sentry.io/api/2/envelope/");
  });
  test("invalid ones are rejected", async () => {
    const all = ["", ...invalid, ...unusable.map((host) => `http://k@${host}/1`)];
    const outcomes = await starts(all.map((dsn) => ({ SENTRY_DSN: dsn })));
    const fix = "copy it from the project's Client Keys page: https://<key>@<host>/<project>";
    expect(outcomes.map((one, i) => ({ dsn: all[i], ...one }))).toEqual(
      all.map((dsn) => ({
        dsn,
        code: 1,
        output: `culvert proxy: SENTRY_DSN is ${dsn ? "not a DSN" : "empty"}: ${fix}`,
      })),
    );
  });
});
