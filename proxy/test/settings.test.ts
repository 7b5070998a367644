import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Outcome, runProxy } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";
import { starts } from "./starts.ts";

const SENTRY_DSN = "https://key@o1.ingest.sentry.io/2";
const dsnFix = "copy it from the project's Client Keys page: https://<key>@<host>/<project>";
const pathFix = "use a path of your own such as /monitoring or /api/reports";
const namesFix =
  "use the names people type, separated by spaces, without scheme, port or wildcard, such as app.example.com";
const readFix = "let that uid read it (chown 101, or chmod o+r in a closed folder)";

type Settings = Record<string, string>;

/** Starts the proxy with each of these settings once for all tests of the calling block; returns how each started, by its index. */
function useStarts(all: Settings[], mounts?: Record<string, string>): { outcomes: Outcome[] } {
  const shared: { outcomes: Outcome[] } = { outcomes: [] };
  beforeAll(async () => {
    shared.outcomes = await starts(
      all.map((settings) => ({ SENTRY_DSN, ...settings })),
      mounts,
    );
  });
  return shared;
}

function expectRefusal({ code, output }: Outcome = { code: -1, output: "" }, line: string) {
  expect(output.split("\n").at(-1)).toBe(`culvert proxy: ${line}`);
  expect(code).toBe(1);
}

describe("an invalid setting stops the proxy with one line", () => {
  const cases = `
    SENTRY_DSN= => SENTRY_DSN is empty: ${dsnFix}
    SENTRY_DSN=sentry.io/2 => SENTRY_DSN is not a DSN: ${dsnFix}
    SENTRY_DSN=https://key@host/2\\n;evil => SENTRY_DSN is not a DSN: ${dsnFix}
    TUNNEL_PATH=monitoring => TUNNEL_PATH 'monitoring' is not a path of A-Z a-z 0-9 _ - between slashes, of 200 characters at most, outside /_next: ${pathFix}
    TUNNEL_PATH=/a;} => TUNNEL_PATH '/a;}' is not a path of A-Z a-z 0-9 _ - between slashes, of 200 characters at most, outside /_next: ${pathFix}
    TUNNEL_PATH=/_next/data => TUNNEL_PATH '/_next/data' is not a path of A-Z a-z 0-9 _ - between slashes, of 200 characters at most, outside /_next: ${pathFix}
    SERVER_NAME=https://example.com => SERVER_NAME 'https://example.com' is not a host name: ${namesFix}
    SERVER_NAME=_ => SERVER_NAME '_' is not a host name: ${namesFix}
    TUNNEL_ALLOWED_DSNS=x => TUNNEL_ALLOWED_DSNS is not a DSN: ${dsnFix}
    TUNNEL_ALLOWED_DSNS=https://key@sentry.example/3 => TUNNEL_ALLOWED_DSNS names the host sentry.example, which no SDK can ask for by arguments: list DSNs of sentry.io only; for another host, make it SENTRY_DSN
    TUNNEL_CLIENT_IP=hide => TUNNEL_CLIENT_IP 'hide' is not a policy: use forward, truncate or withhold
    TUNNEL_RATE_PER_CLIENT=many => TUNNEL_RATE_PER_CLIENT 'many' is not a number of envelopes per second: use a whole number from 1 to 999999
    REQUEST_RATE_PER_CLIENT=0 => REQUEST_RATE_PER_CLIENT '0' is not a number of requests per second: use a whole number from 1 to 999999, or off
    MAX_CONCURRENT_REQUESTS_PER_CLIENT=no => MAX_CONCURRENT_REQUESTS_PER_CLIENT 'no' is not a number of requests: use a whole number from 1 to 16000, or off
    MAX_CONCURRENT_REQUESTS=off => MAX_CONCURRENT_REQUESTS 'off' is not a number of requests: use a whole number from 1 to 30000
    MAX_CONCURRENT_PAGES_PER_REPLICA=0 => MAX_CONCURRENT_PAGES_PER_REPLICA '0' is not a number of pages: use a whole number from 1 to 65535, or off
    TRUSTED_PROXIES=lb.example => TRUSTED_PROXIES 'lb.example' is neither an address nor a network: list them as 10.0.0.0/8 192.0.2.7 2001:db8::/32
    PROXY_PROTOCOL=yes => PROXY_PROTOCOL 'yes' is not a switch: use on or off
    PROXY_PROTOCOL=on => TRUSTED_PROXIES is empty, but PROXY_PROTOCOL is on: list the load balancer's addresses, such as 10.0.0.0/8
    WEBSOCKET_PATH=/monitoring/ws => WEBSOCKET_PATH '/monitoring/ws' belongs to the tunnel: set another TUNNEL_PATH
    CONTENT_SECURITY_POLICY=strict => CONTENT_SECURITY_POLICY 'strict' is not a mode: use enforce, report or off
    HSTS_MAX_AGE=1y => HSTS_MAX_AGE '1y' is not a number of seconds: use a whole number from 0 to 999999999
    WEB_FALLBACK_UPSTREAM=web-all => WEB_FALLBACK_UPSTREAM 'web-all' is not name:port: use the name of all replicas of web, such as web-all:3000
    SPOOL_UPSTREAM=http://spool => SPOOL_UPSTREAM 'http://spool' is not name:port: use the spool's address, such as spool:8082
    BASE_PATH=/ => BASE_PATH '/' is not a path of A-Z a-z 0-9 _ - between slashes, of 200 characters at most, outside /_next: use the app's basePath from next.config, such as /shop, or leave it empty
    BASE_PATH=/monitoring/app => BASE_PATH '/monitoring/app' is below TUNNEL_PATH, which belongs to the tunnel: set another TUNNEL_PATH
    MAX_BODY_SIZE=many => MAX_BODY_SIZE 'many' is not a size: use a number and a unit (k, m, g), such as 100m
    RESPONSE_TIMEOUT=60 => RESPONSE_TIMEOUT '60' is not a time: use a number and a unit (s, m, h, d, w), such as 5m
    HTTPS_PORT=https => HTTPS_PORT 'https' is not a port: use a number from 1 to 65535, such as 8443
  `.matchAll(/^ *([A-Z0-9_]+)=(.*) => (.*)$/gm);
  const refusals = [...cases].map(([, name = "", value = "", line = ""]) => ({
    name,
    value: value.replace("\\n", "\n"),
    line,
  }));
  const shared = useStarts(refusals.map(({ name, value }) => ({ [name]: value })));
  test.each(refusals.map((one, index) => ({ ...one, index })))("$name=$value", ({ line, index }) =>
    expectRefusal(shared.outcomes[index], line),
  );
  test("each of them is tried", () => expect(refusals.length).toBeGreaterThan(25));

  test("a container of the image ends with its status", async () => {
    const { code, output } = await runProxy(await build(), { SENTRY_DSN: "" });
    expectRefusal({ code, output: output.trim() }, `SENTRY_DSN is empty: ${dsnFix}`);
  });
});

describe("an unusable certificate stops the proxy with one line", () => {
  const folder = mkdtempSync(join(tmpdir(), "culvert-"));
  const file = (name: string) => join(folder, name);
  const pair = (cert: string, key: string) => ({ TLS_CERT_FILE: `/tls/${cert}`, TLS_KEY_FILE: `/tls/${key}` });

  beforeAll(() => {
    const request =
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost -days 1".split(" ");
    execFileSync("openssl", [...request, "-out", file("cert"), "-keyout", file("key")], { stdio: "ignore" });
    execFileSync("openssl", ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", file("other-key")]);
    writeFileSync(file("cut-short"), `${readFileSync(file("cert"), "utf8")}-----BEGIN CERTIFICATE-----\nMIIB`);
    writeFileSync(file("text"), "hello\n");
    writeFileSync(file("secret"), "hello\n");
    for (const name of ["cert", "key", "other-key", "cut-short"]) chmodSync(file(name), 0o644);
    chmodSync(folder, 0o755);
    chmodSync(file("secret"), 0o600);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const cases: [string, Settings, string][] = [
    [
      "only one half",
      { TLS_CERT_FILE: "/tls/cert" },
      "TLS_KEY_FILE is empty, but its other half is set: set both TLS_CERT_FILE and TLS_KEY_FILE, or neither",
    ],
    ["missing", pair("missing", "key"), "TLS_CERT_FILE '/tls/missing' does not exist: mount the file there"],
    [
      "no certificate",
      pair("text", "key"),
      "TLS_CERT_FILE '/tls/text' is not a certificate: give a PEM file without a passphrase",
    ],
    [
      "no key",
      pair("cert", "text"),
      "TLS_KEY_FILE '/tls/text' is not a private key: give a PEM file without a passphrase",
    ],
    ["unreadable", pair("cert", "secret"), `TLS_KEY_FILE '/tls/secret' can't be read by uid 101: ${readFix}`],
    [
      "not a pair",
      pair("cert", "other-key"),
      "TLS_KEY_FILE '/tls/other-key' is not the key of the certificate in TLS_CERT_FILE: give the two files of one pair",
    ],
    [
      "a chain that is cut short",
      pair("cut-short", "key"),
      "TLS_CERT_FILE '/tls/cut-short' can't be loaded by Nginx: give the certificate and its whole chain, with a key of 2048 bits or more",
    ],
    [
      "an ingest CA that is none",
      { INGEST_CA_FILE: "/tls/text" },
      "INGEST_CA_FILE '/tls/text' holds no certificate: give a PEM file that begins with -----BEGIN CERTIFICATE-----",
    ],
  ];
  const shared = useStarts(
    cases.map(([, settings]) => settings),
    { [folder]: "/tls" },
  );
  test.each(cases.map(([name, , line], index) => [name, line, index] as const))("%s", (_, line, index) =>
    expectRefusal(shared.outcomes[index], line),
  );
});

test("unusual values that are valid give no warning of Nginx", async () => {
  const unusual: Settings[] = [
    { TRUSTED_PROXIES: "0.0.0.0/0 ::/0 10.0.0.0/8 10.0.0.0/8" },
    { SERVER_NAME: "localhost LOCALHOST a.b a.b" },
  ];
  for (const { code, output } of await starts(unusual.map((one) => ({ SENTRY_DSN, ...one })))) {
    expect(output).not.toContain("[warn]");
    expect(code).toBe(0);
  }
});

test("names longer than a certificate's CN may be get a development certificate, once", async () => {
  const long = `${"a".repeat(48)}.example.com`;
  const longest = `${`${"b".repeat(60)}.`.repeat(4)}cc.com`;
  const settings = [long, longest, `${longest} ${long}`].map((SERVER_NAME) => ({ SENTRY_DSN, SERVER_NAME }));
  const outcomes = await starts([...settings, { SENTRY_DSN, SERVER_NAME: long }]);
  const made = (names: string) => expect.stringContaining(`made a development certificate for ${names};`);
  expect(outcomes).toEqual([
    { code: 0, output: made(long) },
    { code: 0, output: made(longest) },
    { code: 0, output: made(`${longest} ${long}`) },
    { code: 0, output: expect.not.stringContaining("made") },
  ]);
});
