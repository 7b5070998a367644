import { describe, expect, test } from "vitest";
import { parseSettings, SettingError } from "./settings.js";

const pathFix = "use a path of your own such as /monitoring or /api/reports";
const dsnFix =
  "copy it from the project's Client Keys page (https://<key>@<host>/<project>), or unset it for no telemetry";
const rateFix = "use 0 for no traces, 1 for all, or a share such as 0.1";
const targetFix = "list origins such as https://api.example.com:8443, separated by spaces";
const tunnelFix = "use the proxy's own listener for it, http://proxy:8083/envelopes";
const spoolFix = "use the spool's address, such as spool:8082";

describe("an invalid setting is rejected in one line that says what to do", () => {
  test.each([
    ["SENTRY_DSN", "sentry.io/2", `SENTRY_DSN is not a DSN: ${dsnFix}`],
    ["SENTRY_DSN", "https://o1.ingest.sentry.io/2", `SENTRY_DSN is not a DSN: ${dsnFix}`],
    ["SENTRY_DSN", "https://key@o1.ingest.sentry.io/two", `SENTRY_DSN is not a DSN: ${dsnFix}`],
    ["SENTRY_DSN", "ftp://key@o1.ingest.sentry.io/2", `SENTRY_DSN is not a DSN: ${dsnFix}`],
    ["SENTRY_DSN", "https://key@host/2\n", `SENTRY_DSN is not a DSN: ${dsnFix}`],
    ["SENTRY_TRACES_SAMPLE_RATE", "1.1", `SENTRY_TRACES_SAMPLE_RATE '1.1' is not a number from 0 to 1: ${rateFix}`],
    ["SENTRY_TRACES_SAMPLE_RATE", "-1", `SENTRY_TRACES_SAMPLE_RATE '-1' is not a number from 0 to 1: ${rateFix}`],
    ["SENTRY_TRACES_SAMPLE_RATE", "10%", `SENTRY_TRACES_SAMPLE_RATE '10%' is not a number from 0 to 1: ${rateFix}`],
    ["SENTRY_TRACES_SAMPLE_RATE", " ", `SENTRY_TRACES_SAMPLE_RATE ' ' is not a number from 0 to 1: ${rateFix}`],
    ["TUNNEL_PATH", "monitoring", `TUNNEL_PATH 'monitoring' does not start with a slash: ${pathFix}`],
    ["TUNNEL_PATH", "/", `TUNNEL_PATH '/' would hide the whole app: ${pathFix}`],
    ["TUNNEL_PATH", "/_next/data", `TUNNEL_PATH '/_next/data' belongs to Next.js: ${pathFix}`],
    ["TUNNEL_PATH", "/a b", `TUNNEL_PATH '/a b' has a character outside A-Z a-z 0-9 / _ -: ${pathFix}`],
    ["TUNNEL_PATH", "/a\nb", `TUNNEL_PATH '/a b' has a character outside A-Z a-z 0-9 / _ -: ${pathFix}`],
    ["TUNNEL_PATH", "/a/", `TUNNEL_PATH '/a/' has an empty segment: ${pathFix}`],
    ["TUNNEL_PATH", "//a", `TUNNEL_PATH '//a' has an empty segment: ${pathFix}`],
    ["SERVER_TUNNEL", "https://proxy/", `SERVER_TUNNEL is not an http address: ${tunnelFix}`],
    ["SERVER_TUNNEL", "proxy:8083", `SERVER_TUNNEL is not an http address: ${tunnelFix}`],
    ["SPOOL_UPSTREAM", "http://spool", `SPOOL_UPSTREAM 'http://spool' is not name:port: ${spoolFix}`],
    ["SPOOL_UPSTREAM", "spool:99999", `SPOOL_UPSTREAM 'spool:99999' is not name:port: ${spoolFix}`],
    [
      "TRACE_PROPAGATION_TARGETS",
      "https://a.example.com/v1",
      `TRACE_PROPAGATION_TARGETS 'https://a.example.com/v1' is not an origin (scheme, host and port only): ${targetFix}`,
    ],
    [
      "SENTRY_ENVIRONMENT",
      "my stage",
      "SENTRY_ENVIRONMENT 'my stage' has a character that Sentry rejects: use up to 64 of A-Z a-z 0-9 . _ @ + -, such as v1.4.2",
    ],
    [
      "SENTRY_RELEASE",
      "r".repeat(201),
      "SENTRY_RELEASE has 201 characters: use up to 200 of A-Z a-z 0-9 . _ @ + -, such as v1.4.2",
    ],
  ])("%s=%j", (name, value, line) => {
    expect(messageOf(() => parseSettings({ [name]: value }))).toBe(line);
  });
});

describe("characters that no setting may contain are rejected in one line that names the setting", () => {
  const good = {
    SENTRY_DSN: "https://key@o1.ingest.sentry.io/2",
    SENTRY_ENVIRONMENT: "staging",
    SENTRY_RELEASE: "v1",
    SENTRY_TRACES_SAMPLE_RATE: "0.1",
    TUNNEL_PATH: "/monitoring",
    TRACE_PROPAGATION_TARGETS: "https://a.example.com",
    REGION: "eu",
    SERVER_TUNNEL: "http://proxy:8083",
    SPOOL_UPSTREAM: "spool:8082",
  };
  test.each(Object.entries(good))("%s", (name, value) => {
    const endings = ["\n", "\nx", "\r", "\t", "\0", "\u2028", "\x1b[2J", '"', "}", "é", " x"];
    const numbers = /^[0.]*\d/.test(value) ? [`0${value}`, `-${value}`, "9".repeat(20)] : [];
    // Valid in a URL: `;` and `$` may appear in a query.
    const ends = /:\/\//.test(value) && name !== "SENTRY_DSN" ? endings : [...endings, ";", "$uri"];
    for (const bad of [...ends.map((end) => value + end), `\n${value}`, "a".repeat(300), ...numbers]) {
      expect(messageOf(() => parseSettings({ [name]: bad })) ?? bad).toMatch(new RegExp(`^${name} [ -~]+: [ -~]+$`));
    }
  });
});

describe("settings that are optional", () => {
  test.each([{}, { SENTRY_DSN: "", SENTRY_RELEASE: "", SENTRY_TRACES_SAMPLE_RATE: "", TUNNEL_PATH: "" }])(
    "%j",
    (env) => {
      expect(parseSettings(env)).toEqual({
        dsn: undefined,
        environment: "production",
        release: undefined,
        tracesSampleRate: 1,
        tunnelPath: undefined,
        region: undefined,
        serverTunnel: undefined,
        spoolUpstream: undefined,
        tracePropagationTargets: [],
      });
    },
  );

  test("behind a proxy the tunnel has a path", () => {
    expect(parseSettings({ SERVER_TUNNEL: "http://proxy:8083" }).tunnelPath).toBe("/monitoring");
  });
});

test("all settings set", () => {
  const env = {
    SENTRY_DSN: "https://key@sentry.example.com:9000/prefix/42",
    SENTRY_ENVIRONMENT: "staging-eu",
    SENTRY_RELEASE: "shop@1.4.2+7",
    SENTRY_TRACES_SAMPLE_RATE: "0",
    TUNNEL_PATH: "/api/reports",
    TRACE_PROPAGATION_TARGETS: "https://a.example.com:8443, http://b.example.com",
    REGION: "eu-central-1",
    SERVER_TUNNEL: "http://proxy:8083/envelopes",
    SPOOL_UPSTREAM: "spool:8082",
  };
  expect(parseSettings(env)).toMatchObject({
    dsn: { public: env.SENTRY_DSN, host: "sentry.example.com:9000" },
    environment: "staging-eu",
    release: "shop@1.4.2+7",
    tracesSampleRate: 0,
    tunnelPath: "/api/reports",
    tracePropagationTargets: ["https://a.example.com:8443", "http://b.example.com"],
    region: "eu-central-1",
    serverTunnel: new URL(env.SERVER_TUNNEL),
    spoolUpstream: new URL("http://spool:8082/"),
  });
});

function messageOf(act: () => unknown): string | undefined {
  try {
    act();
  } catch (error) {
    return error instanceof SettingError ? error.message : undefined;
  }
}
