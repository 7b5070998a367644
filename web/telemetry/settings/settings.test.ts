import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseDsn } from "./dsn.js";
import { parseSettings, SettingError } from "./settings.js";

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");

test.each([
  ["SENTRY_DSN", "sentry.io/2", "is not a DSN"],
  ["SENTRY_TRACES_SAMPLE_RATE", "1.1", "'1.1' is not a number from 0 to 1"],
  ["SERVER_TUNNEL", "https://proxy/", "is not an http address"],
  ["SPOOL_UPSTREAM", "spool:99999", "'spool:99999' is not name:port"],
  ["TRACE_PROPAGATION_TARGETS", "https://a.b/v1", "'https://a.b/v1' is not an origin (scheme, host and port only)"],
  ["SENTRY_ENVIRONMENT", "my stage", "'my stage' has a character that Sentry rejects"],
  ["SENTRY_RELEASE", "r".repeat(201), "has 201 characters"],
])("%s=%j is rejected in one line that says what is wrong, and what to do", (name, value, problem) => {
  const [said, fix] = messageOf(() => parseSettings({ [name]: value }))?.split(": ") ?? [];
  expect([said, fix]).toEqual([`${name} ${problem}`, expect.stringMatching(/^(use|copy|list) [ -~]+$/)]);
});

test.each(["monitoring", "/", "/_next/data", "/a\nb", "/a/", "//a", `/${"a".repeat(200)}`])(
  "TUNNEL_PATH=%j is rejected with the message of the proxy",
  (value) => {
    const [, kind] = /is_path .*\n +invalid '(.+)'/.exec(read("proxy/entrypoint.d/values.sh")) ?? [];
    const [, fix] = /^setting TUNNEL_PATH \S+ path '(.+)'$/m.exec(read("proxy/entrypoint.d/settings.sh")) ?? [];
    const problem = `'${value.replace("\n", " ")}' is not ${kind}`;
    expect(messageOf(() => parseSettings({ TUNNEL_PATH: value }))).toBe(`TUNNEL_PATH ${problem}: ${fix}`);
  },
);

const env = {
  SENTRY_DSN: "https://key@sentry.example.com:9000/prefix/42",
  SENTRY_ENVIRONMENT: "staging-eu",
  SENTRY_RELEASE: "shop@1.4.2+7",
  SENTRY_TRACES_SAMPLE_RATE: "0.1",
  TUNNEL_PATH: "/api/reports",
  TRACE_PROPAGATION_TARGETS: "https://a.example.com:8443, http://b.example.com",
  REGION: "eu-central-1",
  SERVER_TUNNEL: "http://proxy:8083/envelopes",
  SPOOL_UPSTREAM: "spool:8082",
};

test.each(Object.entries(env))(
  "characters that %s may not contain are rejected in one line that names it",
  (name, value) => {
    const endings = ["\n", "\nx", "\r", "\t", "\0", "\u2028", "\x1b[2J", '"', "}", "é", " x"];
    const numbers = /^[0.]*\d/.test(value) ? [`0${value}`, `-${value}`, "9".repeat(20)] : [];
    // Valid in a URL: `;` and `$` may appear in a query.
    const ends = /:\/\//.test(value) && name !== "SENTRY_DSN" ? endings : [...endings, ";", "$uri"];
    for (const bad of [...ends.map((end) => value + end), `\n${value}`, "a".repeat(300), ...numbers]) {
      expect(messageOf(() => parseSettings({ [name]: bad })) ?? bad).toMatch(new RegExp(`^${name} [ -~]+: [ -~]+$`));
    }
  },
);

test("all settings set", () => {
  expect(parseSettings(env)).toMatchObject({
    dsn: { public: env.SENTRY_DSN, host: "sentry.example.com:9000" },
    environment: "staging-eu",
    release: "shop@1.4.2+7",
    region: "eu-central-1",
    tracesSampleRate: 0.1,
    tunnelPath: "/api/reports",
    tracePropagationTargets: ["https://a.example.com:8443", "http://b.example.com"],
    serverTunnel: new URL(env.SERVER_TUNNEL),
    spoolUpstream: new URL("http://spool:8082/"),
  });
});

const empty = Object.fromEntries(Object.keys(env).map((name) => [name, ""]));
test.each([{}, empty])("every setting is optional, and an empty one is not set: %j", (unset) => {
  const defaults = { environment: "production", tracesSampleRate: 1, tracePropagationTargets: [] };
  const parsed = Object.entries(parseSettings(unset)).filter(([, value]) => value !== undefined);
  expect(Object.fromEntries(parsed)).toEqual(defaults);
  expect(parseSettings({ ...unset, NODE_ENV: "development" }).environment).toBe("development");
  // Behind a proxy the tunnel has a path.
  expect(parseSettings({ ...unset, SERVER_TUNNEL: env.SERVER_TUNNEL }).tunnelPath).toBe("/monitoring");
});

// proxy/spool/src has the tests of the DSNs that are none.
test.each(Object.entries<string>(JSON.parse(read("deploy/test/vectors/dsn.json")).valid))(
  "%s has the envelope address %s",
  (dsn, address) => expect(parseDsn(dsn)?.envelopeUrl).toBe(address),
);

function messageOf(act: () => unknown): string | undefined {
  try {
    act();
  } catch (error) {
    return error instanceof SettingError ? error.message : undefined;
  }
}
