import assert from "node:assert/strict";
import { test } from "vitest";
import { parseSettings } from "./settings.ts";

const SENTRY_DSN = "http://key@ingest/1";
const parse = (env: Record<string, string>) => parseSettings({ SENTRY_DSN, ...env });
const rejects = (env: Record<string, string>, message: string) => assert.throws(() => parse(env), { message });

test("defaults, also where compose passes an empty value on", () => {
  const { maxBytes, maxAgeMs, rate, ca } = parse({
    SPOOL_MAX_MB: "",
    SPOOL_MAX_AGE: "",
    SPOOL_RATE: "",
    INGEST_CA_FILE: "",
  });
  assert.deepEqual([maxBytes, maxAgeMs, rate, ca], [512 * 2 ** 20, 3 * 86_400_000, 500, undefined]);
});
test("durations", () => {
  assert.equal(parse({ SPOOL_MAX_AGE: "90s" }).maxAgeMs, 90_000);
  assert.equal(parse({ SPOOL_MAX_AGE: "15m" }).maxAgeMs, 900_000);
  assert.equal(parse({ SPOOL_MAX_AGE: "12h" }).maxAgeMs, 43_200_000);
});
test("an invalid value is rejected in one line", () => {
  const size = "is not a number from 1 to 1000000: give megabytes as a whole number";
  const age = "is not a duration: use a number and s, m, h or d, such as 12h or 3d";
  const rate = "is not a number from 1 to 100000: give envelopes a second as a whole number";
  rejects(
    { SENTRY_DSN: "" },
    "SENTRY_DSN is empty: copy it from the project's Client Keys page: https://<key>@<host>/<project>",
  );
  for (const value of ["0", "-1", "1.5", "512MB", "1e3"])
    rejects({ SPOOL_MAX_MB: value }, `SPOOL_MAX_MB '${value}' ${size}`);
  for (const value of ["3", "0d", "d", "3 d", "3w", "-1h"])
    rejects({ SPOOL_MAX_AGE: value }, `SPOOL_MAX_AGE '${value}' ${age}`);
  for (const value of ["0", "fast"]) rejects({ SPOOL_RATE: value }, `SPOOL_RATE '${value}' ${rate}`);
  rejects(
    { INGEST_CA_FILE: "/nowhere" },
    `INGEST_CA_FILE '/nowhere' cannot be read by uid ${process.getuid?.()}: mount a PEM file that this user can read`,
  );
  const fix = "give a PEM file that begins with -----BEGIN CERTIFICATE-----";
  rejects(
    { INGEST_CA_FILE: import.meta.filename },
    `INGEST_CA_FILE '${import.meta.filename}' holds no certificate: ${fix}`,
  );
});
test("any invalid value is rejected in one line that names the setting", () => {
  const good = {
    SENTRY_DSN,
    TUNNEL_ALLOWED_DSNS: "http://key@ingest/2",
    SPOOL_MAX_MB: "512",
    SPOOL_MAX_AGE: "3d",
    SPOOL_RATE: "500",
    INTERNAL_NETWORK: "culvert_inside",
    INGEST_CA_FILE: "/etc/ssl/certs/none",
  };
  const endings = ["\n", "\nx", "\r", "\t", "\0", "\u2028", "\x1b[2J", '"', "'", ";", "$uri", "}", "é", " x"];
  for (const [name, value] of Object.entries(good)) {
    const numbers = /^\d/.test(value) ? [`0${value}`, `-${value}`, `${value}.5`, "9".repeat(20), "0x1"] : [];
    const all = [...endings.map((end) => value + end), `\n${value}`, "a".repeat(300), ...numbers];
    for (const bad of all)
      assert.throws(
        () => parse({ [name]: bad }),
        { message: new RegExp(`^${name} [ -~]+: [ -~]+$`) },
        `${name}=${bad}`,
      );
  }
});
