import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makePair } from "../../deploy/test/support/certificate.ts";
import type { Outcome } from "../../deploy/test/support/docker.ts";
import { starts } from "./starts.ts";

const SENTRY_DSN = "https://key@o1.ingest.sentry.io/2";
const path = "a path of A-Z a-z 0-9 _ - between slashes, of 200 characters at most, outside /_next";
const pathFix = "use a path of your own such as /monitoring or /api/reports";
const namesFix =
  "use the names people type, separated by spaces, without scheme, port or wildcard, such as app.example.com";
const pemFix = "give a PEM file without a passphrase";

/** Settings, and the line with which they stop the proxy. */
const refusals = Array.from(
  `
    TUNNEL_PATH=/_next/data => TUNNEL_PATH '/_next/data' is not ${path}: ${pathFix}
    SERVER_NAME=https://example.com => SERVER_NAME 'https://example.com' is not a host name: ${namesFix}
    SERVER_NAME=_ => SERVER_NAME '_' is not a host name: ${namesFix}
    TUNNEL_ALLOWED_DSNS=x => TUNNEL_ALLOWED_DSNS is not a DSN: copy it from the project's Client Keys page: https://<key>@<host>/<project>
    TUNNEL_ALLOWED_ORIGINS=https://a.b/ => TUNNEL_ALLOWED_ORIGINS 'https://a.b/' is not an origin: list origins such as https://shop.example.com
    TRUSTED_PROXIES=lb.example => TRUSTED_PROXIES 'lb.example' is neither an address nor a network: list them as 10.0.0.0/8 192.0.2.7 2001:db8::/32
    PROXY_PROTOCOL=on => TRUSTED_PROXIES is empty, but PROXY_PROTOCOL is on: list the load balancer's addresses, such as 10.0.0.0/8
    WEBSOCKET_PATH=/monitoring/ws => WEBSOCKET_PATH '/monitoring/ws' belongs to the tunnel: set another TUNNEL_PATH
    BASE_PATH=/monitoring/app => BASE_PATH '/monitoring/app' is below TUNNEL_PATH, which belongs to the tunnel: set another TUNNEL_PATH
    INGEST_CA_FILE=/tls/text => INGEST_CA_FILE '/tls/text' holds no certificate: give a PEM file that begins with -----BEGIN CERTIFICATE-----
    TLS_CERT_FILE=/tls/a.crt => TLS_KEY_FILE is empty, but its other half is set: set both TLS_CERT_FILE and TLS_KEY_FILE, or neither
    TLS_CERT_FILE=/tls/a.crt TLS_KEY_FILE=/tls/a.key ACME=on => ACME is on, but TLS_CERT_FILE is set too: use one of them
    TLS_CERT_FILE=/tls/none TLS_KEY_FILE=/tls/a.key => TLS_CERT_FILE '/tls/none' does not exist: mount the file there
    TLS_CERT_FILE=/tls/text TLS_KEY_FILE=/tls/a.key => TLS_CERT_FILE '/tls/text' is not a certificate: ${pemFix}
    TLS_CERT_FILE=/tls/a.crt TLS_KEY_FILE=/tls/text => TLS_KEY_FILE '/tls/text' is not a private key: ${pemFix}
    TLS_CERT_FILE=/tls/a.crt TLS_KEY_FILE=/tls/secret => TLS_KEY_FILE '/tls/secret' can't be read by uid 101: let that uid read it (chown 101, or chmod o+r in a closed folder)
    TLS_CERT_FILE=/tls/a.crt TLS_KEY_FILE=/tls/b.key => TLS_KEY_FILE '/tls/b.key' is not the key of the certificate in TLS_CERT_FILE: give the two files of one pair
    TLS_CERT_FILE=/tls/cut TLS_KEY_FILE=/tls/a.key => TLS_CERT_FILE '/tls/cut' can't be loaded by Nginx: give the certificate and its whole chain, with a key of 2048 bits or more
  `.matchAll(/^ *([A-Z]\S*(?: [A-Z]\S*)*) => (.*)$/gm),
  ([, settings = "", line = ""]) => ({ settings, line }),
);

const [long, longest] = [`${"a".repeat(48)}.example.com`, `${`${"b".repeat(60)}.`.repeat(4)}cc.com`];
const made = (names: string) => expect.stringContaining(`made a development certificate for ${names};`);
/** Unusual settings that are valid, and what their start says: also of names longer than a certificate's CN may be. */
const valid: [name: string, value: string, output: unknown][] = [
  [
    "TRUSTED_PROXIES",
    "0.0.0.0/0 ::/0 10.0.0.0/8 10.0.0.0/8",
    expect.stringMatching(/contains 0\.0\.0\.0\/0: any .*contains ::\/0/s),
  ],
  ["TRUSTED_PROXIES", "10.0.0.0/8 fc00::/7", expect.not.stringContaining("contains")],
  [
    "TUNNEL_ALLOWED_DSNS",
    "https://key@sentry.example/3",
    expect.stringMatching(/: envelopes for sentry\.example\/3 are accepted at \/[a-z0-9]+ \(tunnel: true\) only$/m),
  ],
  ["SERVER_NAME", "localhost LOCALHOST a.b a.b", made("localhost LOCALHOST a.b a.b")],
  ["SERVER_NAME", long, made(long)],
  ["SERVER_NAME", longest, made(longest)],
  ["SERVER_NAME", `${longest} ${long}`, made(`${longest} ${long}`)],
  ["SERVER_NAME", long, expect.not.stringContaining("made")],
];

const folder = mkdtempSync(join(tmpdir(), "culvert-"));
let outcomes: Outcome[];
beforeAll(async () => {
  const file = (name: string) => join(folder, name);
  for (const name of ["a", "b"]) makePair(file(name), ["localhost"]);
  writeFileSync(file("cut"), `${readFileSync(file("a.crt"), "utf8")}-----BEGIN CERTIFICATE-----\nMIIB`);
  writeFileSync(file("text"), "hello\n");
  writeFileSync(file("secret"), "hello\n", { mode: 0o600 });
  chmodSync(folder, 0o755);
  const all = [
    ...refusals.map(({ settings }) => Object.fromEntries(settings.split(" ").map((one) => one.split(/=(.*)/s, 2)))),
    ...valid.map(([name, value]) => ({ [name]: value })),
  ];
  outcomes = await starts(
    all.map((settings) => ({ SENTRY_DSN, ...settings })),
    { [folder]: "/tls" },
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("an invalid setting or an unusable certificate stops the proxy with one line", () => {
  test.each(refusals.map((one, index) => ({ ...one, index })))("$settings", ({ line, index }) => {
    const { code, output } = outcomes[index] ?? { code: -1, output: "" };
    expect([code, output.split("\n").at(-1)]).toEqual([1, `culvert proxy: ${line}`]);
  });
});

test.each(valid.map((one, index) => [...one, index] as const))(
  "%s=%s starts without a warning of Nginx",
  (_, __, output, index) => {
    const outcome = outcomes[refusals.length + index];
    expect(outcome).toEqual({ code: 0, output });
    expect(outcome?.output).not.toContain("[warn]");
  },
);
