import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { build } from "../../deploy/test/support/images.ts";
import { starts } from "./starts.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

const settings: { name: string; services: string[]; example: string }[] = Object.values(
  JSON.parse(read("deploy/settings/settings.json")),
).flat() as never;
/** For each setting of the proxy a valid value, from which invalid ones are made. */
const examples: Record<string, string> = {
  ...Object.fromEntries(
    settings.filter(({ services }) => services.includes("proxy")).map(({ name, example }) => [name, example]),
  ),
  // Files that exist.
  TLS_CERT_FILE: "/var/lib/culvert/tls/server.crt",
  TLS_KEY_FILE: "/var/lib/culvert/tls/server.key",
  INGEST_CA_FILE: "/etc/ssl/certs/ca-certificates.crt",
};

/** Invalid for every setting. NUL cannot be tried: the environment ends a value there. */
const bad = (good: string) => [
  `${good}\n`,
  `${good}\nerror_log /tmp/evil;`,
  `${good}"`,
  `${good};`,
  `;${good}`,
  `{${good}}`,
  `${good}$uri`,
  `${good}\\`,
  `${good}\x1b[2J`,
  `${good}é`,
  "a".repeat(300),
  ...(/^\d/.test(good) ? [`-${good}`, `${good}.5`, "9".repeat(20)] : []),
];

const { SENTRY_DSN = "" } = examples;

// Hundreds of starts, each of several processes.
vi.setConfig({ testTimeout: 3_600_000 });
beforeAll(() => build());

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
  // A certificate without its key is rejected for the key.
  const { TLS_CERT_FILE = "", TLS_KEY_FILE = "" } = examples;
  const attempts = tried.map(({ name, value }) => {
    const pair: Record<string, string> = name.startsWith("TLS_") ? { TLS_CERT_FILE, TLS_KEY_FILE } : {};
    return { SENTRY_DSN, ...pair, [name]: value };
  });
  const [, ...outcomes] = await starts([{ SENTRY_DSN }, ...attempts]);
  expect(outcomes).toHaveLength(tried.length);
  const wrong = tried.filter(({ name }, i) => {
    const { code, output } = outcomes[i] ?? { code: -1, output: "" };
    return code !== 1 || !new RegExp(`^culvert proxy: ${name} [ -~]+: [ -~]+$`).test(output);
  });
  expect(wrong.map((one) => ({ ...one, ...outcomes[tried.indexOf(one)] }))).toEqual([]);
});

describe("a DSN, as every parser reads it", () => {
  const { valid, invalid, invalidHosts } = JSON.parse(read("deploy/test/vectors/dsn.json")) as {
    valid: Record<string, string>;
    invalid: string[];
    invalidHosts: string[];
  };
  test("valid ones become an upstream and the address for the spool; one may be listed twice, and a project with two keys", async () => {
    const TUNNEL_ALLOWED_DSNS =
      "https://a:x@o1.ingest.sentry.io/2 https://a@o1.ingest.sentry.io/2 https://b@o1.ingest.sentry.io/2";
    const outcomes = await starts(Object.keys(valid).map((dsn) => ({ SENTRY_DSN: dsn, TUNNEL_ALLOWED_DSNS })));
    const addresses = outcomes.map(({ output }) => /^started for (.*)$/m.exec(output)?.[1]);
    // The spool compares addresses as the URL standard writes them.
    expect(addresses.map((address) => address && new URL(address).href)).toEqual(Object.values(valid));
  });
  test("invalid ones are rejected", async () => {
    const all = ["", ...invalid, ...invalidHosts.map((host) => `http://k@${host}/1`)];
    const outcomes = await starts(all.map((dsn) => ({ SENTRY_DSN: dsn })));
    const fix = "copy it from the project's Client Keys page: https://<key>@<host>/<project>";
    const line = (dsn: string) => `culvert proxy: SENTRY_DSN is ${dsn ? "not a DSN" : "empty"}: ${fix}`;
    expect(outcomes.map((one, i) => ({ dsn: all[i], ...one }))).toEqual(
      all.map((dsn) => ({ dsn, code: 1, output: line(dsn) })),
    );
  });
});
