import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makePair } from "../../deploy/test/support/certificate.ts";
import { hardened } from "../../deploy/test/support/docker.ts";
import { build } from "../../deploy/test/support/images.ts";
import { changed, inTurn, publicFolder } from "./use-proxy.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

const settings: { name: string; services: string[]; example: string }[] = Object.values(
  JSON.parse(read("deploy/settings/settings.json")),
).flat() as never;
const examples: Record<string, string> = {
  ...Object.fromEntries(
    settings.filter(({ services }) => services.includes("proxy")).map(({ name, example }) => [name, example]),
  ),
  TLS_CERT_FILE: "/var/lib/culvert/tls/server.crt",
  TLS_KEY_FILE: "/var/lib/culvert/tls/server.key",
  INGEST_CA_FILE: "/etc/ssl/certs/ca-certificates.crt",
};

/** Invalid for every setting. NUL cannot be tried: the environment ends a value there. */
const bad = (good: string) => [
  ...["\nerror_log /tmp/evil;", '"', ";", "{", "$uri", "\\", "é"].map((end) => good + end),
  `;${good}`,
  "a".repeat(300),
  ...(/^\d/.test(good) ? [`-${good}`, `${good}.5`, "9".repeat(20)] : []),
];

const { SENTRY_DSN = "", TLS_CERT_FILE = "", TLS_KEY_FILE = "" } = examples;

const folder = publicFolder();
const file = (name: string) => join(folder, name);
for (const name of ["a", "b"]) makePair(file(name), ["localhost"]);
writeFileSync(file("cut"), `${readFileSync(file("a.crt"), "utf8")}-----BEGIN CERTIFICATE-----\nMIIB`);
writeFileSync(file("text"), "hello\n");
writeFileSync(file("secret"), "hello\n", { mode: 0o600 });

const starts = async (all: Record<string, string>[], ...more: string[]) =>
  inTurn(await build(), "/culvert/entrypoint.sh", all, [...hardened, `--volume=${folder}:/tls:ro`, ...more]);
const isRefusal = (text: string, problem: string) =>
  text.startsWith(`culvert proxy: ${problem}`) && /^[ -~]+: [ -~]+: [ -~]+$/.test(text);

test("the examples themselves are accepted", async () => {
  // Without a network there is no internal one either: container.test.ts.
  const none = { TLS_CERT_FILE: "", TLS_KEY_FILE: "", PROXY_PROTOCOL: "", INTERNAL_NETWORK: "" };
  const [outcome] = await starts([{ ...examples, ...none }]);
  const output = expect.stringContaining("started for https://o1.ingest.sentry.io/api/2");
  expect(outcome).toEqual({ code: 0, output });
});

test("an invalid value is rejected with one line that names the setting", async () => {
  const tried = Object.entries(examples).flatMap(([name, good]) => bad(good).map((value) => ({ name, value })));
  // A certificate without its key is rejected for the key.
  const attempts = tried.map(({ name, value }) => {
    const pair: Record<string, string> = name.startsWith("TLS_") ? { TLS_CERT_FILE, TLS_KEY_FILE } : {};
    return { SENTRY_DSN, ...pair, [name]: value };
  });
  const [, ...outcomes] = await starts([{ SENTRY_DSN }, ...attempts]);
  expect(outcomes).toHaveLength(tried.length);
  const ended = tried.map((setting, i) => ({ ...setting, code: -1, output: "", ...outcomes[i] }));
  expect(ended.filter(({ name, code, output }) => code !== 1 || !isRefusal(output, `${name} `))).toEqual([]);
});

test("a value in the right form, and a certificate, that cannot be used are rejected with one line as well", async () => {
  const pair = (certificate: string, key: string) => ({
    TLS_CERT_FILE: `/tls/${certificate}`,
    TLS_KEY_FILE: `/tls/${key}`,
  });
  const refusals: [set: Record<string, string>, problem: string][] = [
    [{ TUNNEL_PATH: "/_next/data" }, "TUNNEL_PATH '/_next/data' is not a path"],
    [{ SERVER_NAME: "https://example.com" }, "SERVER_NAME 'https://example.com' is not a host name"],
    [{ SERVER_NAME: "_" }, "SERVER_NAME '_' is not a host name"],
    [{ TUNNEL_ALLOWED_DSNS: "x" }, "TUNNEL_ALLOWED_DSNS is not a DSN"],
    [{ WEBSOCKET_ALLOWED_ORIGINS: "null" }, "WEBSOCKET_ALLOWED_ORIGINS 'null' is not an origin"],
    [{ TUNNEL_ALLOWED_ORIGINS: "https://a.b/" }, "TUNNEL_ALLOWED_ORIGINS 'https://a.b/' is not an origin"],
    [{ TRUSTED_PROXIES: "lb.example" }, "TRUSTED_PROXIES 'lb.example' is neither an address nor a network"],
    [{ PROXY_PROTOCOL: "on" }, "TRUSTED_PROXIES is empty, but PROXY_PROTOCOL is on"],
    [{ WEBSOCKET_PATH: "/monitoring/ws" }, "WEBSOCKET_PATH '/monitoring/ws' belongs to the tunnel"],
    [{ BASE_PATH: "/monitoring/app" }, "BASE_PATH '/monitoring/app' belongs to the tunnel"],
    [{ WEB: "off", BASE_PATH: "/shop" }, "BASE_PATH is set, but WEB=off serves no app"],
    [{ INTERNAL_NETWORK: "culvert_insid" }, "INTERNAL_NETWORK 'culvert_insid' is no network of this container"],
    [{ INGEST_CA_FILE: "/tls/text" }, "INGEST_CA_FILE '/tls/text' holds no certificate"],
    [{ TLS_CERT_FILE: "/tls/a.crt" }, "TLS_KEY_FILE is empty, but its other half is set"],
    [{ ...pair("a.crt", "a.key"), ACME: "on" }, "ACME is on, but TLS_CERT_FILE is set too"],
    [pair("none", "a.key"), "TLS_CERT_FILE '/tls/none' does not exist"],
    [pair("text", "a.key"), "TLS_CERT_FILE '/tls/text' is not a certificate"],
    [pair("a.crt", "text"), "TLS_KEY_FILE '/tls/text' is not a private key"],
    [pair("a.crt", "secret"), "TLS_KEY_FILE '/tls/secret' can't be read by uid 101"],
    [pair("a.crt", "b.key"), "TLS_KEY_FILE '/tls/b.key' is not the key of the certificate"],
    [pair("cut", "a.key"), "TLS_CERT_FILE '/tls/cut' can't be loaded by Nginx"],
  ];
  const outcomes = await starts(refusals.map(([set]) => ({ SENTRY_DSN, ...set })));
  const ended = refusals.map(([set, problem], i) => ({ set, problem, code: -1, output: "", ...outcomes[i] }));
  const isRight = (text = "", problem = "") => isRefusal(text.split("\n").at(-1) ?? "", problem);
  expect(ended.filter(({ code, output, problem }) => code !== 1 || !isRight(output, problem))).toEqual([]);
});

test("unusual values that are valid start without a warning of Nginx; names may be longer than a certificate's CN", async () => {
  const [long, longest] = [`${"a".repeat(48)}.example.com`, `${`${"b".repeat(60)}.`.repeat(4)}cc.com`];
  const valid: [name: string, value: string, output: RegExp][] = [
    ["TRUSTED_PROXIES", "0.0.0.0/0 ::/0 10.0.0.0/8 10.0.0.0/8", /contains 0\.0\.0\.0\/0: any .*contains ::\/0/s],
    ["TRUSTED_PROXIES", "10.0.0.0/8 fc00::/7", /^(?!.*contains)/s],
    ["TUNNEL_ALLOWED_DSNS", "https://key@[2001:db8::1]:9000/a.b/3", /^started for .*$/],
    ["SERVER_NAME", "localhost LOCALHOST a.b a.b", /made a development certificate for localhost LOCALHOST a\.b a\.b;/],
    ["SERVER_NAME", `${longest} ${long} 192.0.2.7`, /made a development certificate for b.*com a.*com 192\.0\.2\.7;/],
    ["SERVER_NAME", `${long} 192.0.2.7`, /^(?!.*made)/s],
  ];
  const outcomes = await starts(valid.map(([name, value]) => ({ SENTRY_DSN, [name]: value })));
  for (const [index, [name, value, output]] of valid.entries()) {
    expect(outcomes[index], `${name}=${value}`).toEqual({ code: 0, output: expect.stringMatching(output) });
    expect(outcomes[index]?.output).not.toContain("[warn]");
  }
});

test.each([
  ["fe80::1%eth0 2001:db8::53 192.0.2.53\r", 0, / cannot use the name server fe80::1%eth0\nculvert proxy: made a/],
  ["fe80::1 dns.example", 1, /fe80::1\n.*dns\.example\nculvert proxy: \/etc\/resolv\.conf names no server[ -~]*$/],
])("of the name servers %j, those that Nginx cannot use are left out", async (servers, code, output) => {
  writeFileSync(file("resolv.conf"), servers.replace(/^| /g, "\nnameserver "));
  const [outcome] = await starts([{ SENTRY_DSN }], `--volume=${file("resolv.conf")}:/etc/resolv.conf:ro`);
  expect(outcome).toEqual({ code, output: expect.stringMatching(output) });
});

test("a name in a template that nothing sets is rejected with one line", async () => {
  const [copy = ""] = Object.keys(changed("templates/resolver.conf", { NAME_SERVERS: "NAME_SERVER" }));
  const [outcome] = await starts([{ SENTRY_DSN }], `--volume=${copy}:/etc/nginx/templates/resolver.conf:ro`);
  expect(outcome?.code).toBe(1);
  expect(outcome?.output.split("\n").at(-1)).toMatch(
    /^culvert proxy: [/a-z-]+\.conf has \$\{NAME_SERVER\}, [ -~]+: [ -~]+$/,
  );
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
    expect(outcomes.map((outcome, i) => ({ dsn: all[i], ...outcome }))).toEqual(
      all.map((dsn) => ({ dsn, code: 1, output: line(dsn) })),
    );
  });
});
