import assert from "node:assert/strict";
import type { networkInterfaces } from "node:os";
import { test } from "vitest";
import vectors from "../../../deploy/test/vectors/dsn.json" with { type: "json" };
import { destinations } from "./destination.ts";
import { subnets } from "./internal-network.ts";
import { parseSettings } from "./settings.ts";

const SENTRY_DSN = "http://key@ingest/1";
const parse = (env: Record<string, string>) => parseSettings({ SENTRY_DSN, ...env });

test("defaults, also where compose passes an empty value on", () => {
  const empty = { SPOOL_MAX_MB: "", SPOOL_MAX_AGE: "", SPOOL_RATE: "", INGEST_CA_FILE: "" };
  const { maxBytes, maxAgeMs, rate, ca } = parse(empty);
  assert.deepEqual([maxBytes, maxAgeMs, rate, ca], [512 * 2 ** 20, 3 * 86_400_000, 500, undefined]);
});
test("a duration has a unit", () => {
  const parsed = ["90s", "15m", "12h", "1w"].map((value) => parse({ SPOOL_MAX_AGE: value }).maxAgeMs);
  assert.deepEqual(parsed, [90_000, 900_000, 43_200_000, 604_800_000]);
});

const file = import.meta.filename;
const unread = `cannot be read by uid ${process.getuid?.()}: mount a PEM file that this user can read`;
const fixDsn = "copy it from the project's Client Keys page: https://<key>@<host>/<project>";
test.each([
  ["SPOOL_MAX_MB", ["0", "512MB", "1e3"], "is not a number from 1 to 1000000: give megabytes as a whole number"],
  ["SPOOL_MAX_AGE", ["3", "0d", "3y"], "is not a duration: use a number and s, m, h, d or w, such as 12h or 3d"],
  ["SPOOL_RATE", ["0", "fast"], "is not a number from 1 to 100000: give envelopes a second as a whole number"],
  ["SPOOL_UPSTREAM", ["spool:0", "spool:65536"], "is not name:port: use the spool's address, such as spool:8082"],
  ["INGEST_CA_FILE", ["/nowhere"], unread],
  ["INGEST_CA_FILE", [file], "holds no certificate: give a PEM file that begins with -----BEGIN CERTIFICATE-----"],
])("an invalid %s of %s is rejected in one line: %s", (name, values, message) => {
  for (const value of values)
    assert.throws(() => parse({ [name]: value }), { message: `${name} '${value}' ${message}` });
});
test.each([
  ["SENTRY_DSN", SENTRY_DSN],
  ["TUNNEL_ALLOWED_DSNS", "http://key@ingest/2"],
  ["SPOOL_MAX_MB", "512"],
  ["SPOOL_MAX_AGE", "3d"],
  ["SPOOL_RATE", "500"],
  ["SPOOL_UPSTREAM", "spool:8082"],
  ["INTERNAL_NETWORK", "culvert_inside"],
  ["INGEST_CA_FILE", "/etc/ssl/certs/none"],
])("any invalid value of %s is rejected in one line that names it", (name, value) => {
  const numbers = /^\d/.test(value) ? [`0${value}`, `-${value}`, `${value}.5`, "9".repeat(20), "0x1"] : [];
  const endings = ["\n", "\nx", "\r", "\t", "\0", "\u2028", "\x1b[2J", '"', "'", ";", "$uri", "}", "é", " x"];
  for (const bad of [...endings.map((end) => value + end), `\n${value}`, "a".repeat(300), ...numbers])
    assert.throws(() => parse({ [name]: bad }), { message: new RegExp(`^${name} [ -~]+: [ -~]+$`) }, bad);
});

const urls = (dsn: string, allowed?: string) => destinations(dsn, allowed).map(({ url }) => url);

test("a DSN is two addresses, as the URL standard writes them: envelopes and CSP reports", () => {
  for (const [dsn, envelope] of Object.entries(vectors.valid)) assert.equal(urls(dsn)[0], envelope);
  for (const url of Object.keys(vectors.valid).flatMap((dsn) => urls(dsn))) assert.equal(URL.parse(url)?.href, url);
  assert.equal(urls("https://key:secret@a/b/2")[1], "https://a/b/api/2/security/?sentry_key=key");
});
test("TUNNEL_ALLOWED_DSNS has spaces or commas; two keys of one project share an address for envelopes", () => {
  assert.equal(urls("http://k@a/1", "http://k@b/2, http://k@c/3 ,http://k@d/4").length, 8);
  const [envelopes, ...security] = urls("http://k@a/1", "http://l@a/1 http://k@a/1");
  assert.equal(envelopes, "http://a/api/1/envelope/");
  assert.deepEqual(
    security,
    ["k", "l"].map((key) => `http://a/api/1/security/?sentry_key=${key}`),
  );
});
test("an invalid DSN is rejected without its value in the error", () => {
  for (const dsn of [...vectors.invalid, ...vectors.invalidHosts.map((host) => `http://k@${host}/1`)])
    assert.throws(() => urls(dsn), { message: `SENTRY_DSN is not a DSN: ${fixDsn}` });
  assert.throws(() => urls(""), { message: `SENTRY_DSN is empty: ${fixDsn}` });
  assert.throws(() => urls("http://k@a/1", "http://k@b/"), { message: `TUNNEL_ALLOWED_DSNS is not a DSN: ${fixDsn}` });
});

const ip = (cidr: string, internal = false) => {
  const [address = ""] = cidr.split("/");
  return { address, cidr, family: address.includes(":") ? "IPv6" : "IPv4", internal };
};
const interfaces = {
  lo: [ip("127.0.0.1/8", true), ip("::1/128", true)],
  eth0: [ip("172.18.0.4/16"), ip("fd00:18::4/64"), ip("fe80::1/64")],
  eth1: [ip("10.5.1.66/26"), ip("fd00:5::4/64"), ip("fe80::2/64")],
} as unknown as ReturnType<typeof networkInterfaces>;

test.each([
  [true, "10.5.1.65 10.5.1.126 ::ffff:10.5.1.65 fd00:5::9 127.0.0.1 ::ffff:127.0.0.1 ::1"],
  [false, "10.5.1.63 10.5.1.128 172.18.0.4 ::ffff:172.18.0.9 fd00:18::4 fe80::9 192.0.2.1"],
])("the subnets of the interface with the address, and the container itself, are internal: %s for %s", (is, all) => {
  const list = subnets(interfaces, ["10.5.1.66"]);
  for (const address of all.split(" "))
    assert.equal(list?.check(address, address.includes(":") ? "ipv6" : "ipv4"), is, address);
});
test("addresses of no interface are those of another container, or of none", () => {
  assert.equal(subnets(interfaces, ["10.5.1.67"]), undefined);
  assert.equal(subnets(interfaces, []), undefined);
});
