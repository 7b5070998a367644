import assert from "node:assert/strict";
import { test } from "vitest";
import { parseSettings } from "./settings.ts";

const SENTRY_DSN = "http://key@ingest/1";
const parse = (env: Record<string, string>) => parseSettings({ SENTRY_DSN, ...env });

test("defaults, also where compose passes an empty value on", () => {
  const empty = { SPOOL_MAX_MB: "", SPOOL_MAX_AGE: "", SPOOL_RATE: "", INGEST_CA_FILE: "" };
  const { maxBytes, maxAgeMs, rate, ca } = parse(empty);
  assert.deepEqual([maxBytes, maxAgeMs, rate, ca], [512 * 2 ** 20, 3 * 86_400_000, 500, undefined]);
});
test.each([
  ["90s", 90_000],
  ["15m", 900_000],
  ["12h", 43_200_000],
])("a duration of %s", (value, milliseconds) => assert.equal(parse({ SPOOL_MAX_AGE: value }).maxAgeMs, milliseconds));

const file = import.meta.filename;
test.each([
  ["SENTRY_DSN", [""], "is empty: copy it from the project's Client Keys page: https://<key>@<host>/<project>"],
  [
    "SPOOL_MAX_MB",
    ["0", "-1", "1.5", "512MB", "1e3"],
    "'?' is not a number from 1 to 1000000: give megabytes as a whole number",
  ],
  [
    "SPOOL_MAX_AGE",
    ["3", "0d", "d", "3 d", "3w", "-1h"],
    "'?' is not a duration: use a number and s, m, h or d, such as 12h or 3d",
  ],
  ["SPOOL_UPSTREAM", ["spool:0", "spool:65536"], "'?' is not name:port: use the spool's address, such as spool:8082"],
  ["SPOOL_RATE", ["0", "fast"], "'?' is not a number from 1 to 100000: give envelopes a second as a whole number"],
  [
    "INGEST_CA_FILE",
    ["/nowhere"],
    `'?' cannot be read by uid ${process.getuid?.()}: mount a PEM file that this user can read`,
  ],
  ["INGEST_CA_FILE", [file], "'?' holds no certificate: give a PEM file that begins with -----BEGIN CERTIFICATE-----"],
])("an invalid %s is rejected in one line: %s", (name, values, message) => {
  for (const value of values)
    assert.throws(() => parse({ [name]: value }), { message: `${name} ${message.replace("?", value)}` });
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
