import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const script = join(import.meta.dirname, "../run.sh");
const TOOLS = "sh dirname mkdir rm cp chmod sed tail cat ls env find sort mkfifo".split(" ");
/** Paths that the preflight finds on a target without a tunnel: no reader is started. */
const FOUND = "TUNNEL_PATH=off";
let box: string;

beforeEach(() => {
  box = mkdtempSync(join(tmpdir(), "culvert-run-"));
  // Not all of /usr/bin, where a test that needs a missing k6 or docker could find one.
  for (const tool of TOOLS)
    symlinkSync(spawnSync("which", [tool], { encoding: "utf8" }).stdout.trim(), join(box, tool));
});
afterEach(() => rmSync(box, { recursive: true }));

/** Puts a command in front of the real ones. */
function fake(command: string, body: string): void {
  writeFileSync(join(box, command), `#!/bin/sh\n${body}\n`);
  chmodSync(join(box, command), 0o755);
}

/** A k6 of this version whose preflight finds FOUND. */
function fakeK6(body: string, version = "2.2.0"): void {
  fake("k6", answering(body, version));
}

function answering(body: string, version = "2.2.0"): string {
  return `case "$*" in *version) echo "k6 v${version} (commit)" ;; *preflight.ts) echo "${FOUND}" >"$OUT/settings.env" ;; *)\n${body}\n;; esac`;
}

function run(env: Record<string, string>, args: string[] = []) {
  const own = { PATH: box, OUT: join(box, "out"), COMPOSE_ENV_FILES: "/dev/null", ...env };
  const { status, stdout, stderr } = spawnSync(join(box, "sh"), [script, ...args], {
    env: own,
    cwd: box,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

describe("run.sh", () => {
  it.each(["../smoke", "Smoke", "k6-globals.d"])(
    "rejects the profile %j in one line: it would be a folder of its own",
    (PROFILE) => {
      fakeK6("echo ran");
      const { status, stdout, stderr } = run({ PROFILE });
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(/^culvert loadtest: PROFILE '.*' is not a profile: see README.md\n$/);
    },
  );

  it("says how to install k6 if neither k6 nor its image is available", () => {
    fake("docker", "exit 1");
    const { status, stderr } = run({});
    expect(status).toBe(1);
    expect(stderr).toMatch(/^culvert loadtest: k6 is not on PATH and its image is not available: install it .*\n$/);
  });

  it("runs the profile's script without usage reports and with its arguments, and exits with k6's status", () => {
    fakeK6('echo "$*|$K6_NO_USAGE_REPORT|$K6_AUTO_EXTENSION_RESOLUTION|$TUNNEL_PATH"; exit 107');
    const { status, stdout } = run({ PROFILE: "average" }, ["--tag", "team=shop"]);
    expect(stdout).toBe("run --quiet --tag team=shop main.ts|true|false|off\n");
    expect(status).toBe(107);
  });

  it("tells the results apart by the summary's exit code, also for a result that no threshold knows", () => {
    for (const [k6, exit, status] of [
      [99, 20, 20],
      [0, 24, 24],
      [99, 21, 21],
      [99, 0, 99],
      [0, 0, 0],
      [108, 20, 108],
    ]) {
      const files = `echo '  "exit": ${exit},' >"$OUT/summary.json"; echo "RESULT · smoke" >"$OUT/summary.txt"`;
      fakeK6(`${files}; exit ${k6}`);
      const outcome = run({});
      expect(outcome.status).toBe(status);
      expect(outcome.stderr).toMatch(new RegExp(`\\(exit code ${status}, RESULT\\)\n$`));
    }
  });

  it("rejects a k6 that is too old in one line", () => {
    fakeK6("", "1.4.0");
    expect(run({})).toMatchObject({
      status: 1,
      stderr: "culvert loadtest: k6 1.4.0 is too old: install 2.0 or newer\n",
    });
  });

  it("ends with the preflight if that stops", () => {
    fake("k6", 'case "$*" in *version) echo "k6 v2.2.0" ;; *preflight.ts) exit 108 ;; *) echo ran ;; esac');
    expect(run({})).toMatchObject({ status: 108, stdout: "" });
  });

  it("takes the newest summary of a folder as the baseline, and JSON as it is", () => {
    fakeK6('cat "$BASELINE"; echo "$LIMITS"');
    mkdirSync(join(box, "history"));
    for (const name of ["summary-1.json", "summary-2.json"]) writeFileSync(join(box, "history", name), `${name}\n`);
    expect(run({ BASELINE: "history", LIMITS: '{"noise":5}' }).stdout).toBe('summary-2.json\n{"noise":5}\n');
    expect(run({ BASELINE: "none.json" }).stderr).toMatch(/^culvert loadtest: BASELINE '.*none.json' cannot be read: /);
  });

  it("finds the stack on this machine by its HTTPS_PORT, from the shell or .env; BASE_URL wins", () => {
    fakeK6('echo "$BASE_URL"');
    const settings = join(box, "settings");
    writeFileSync(settings, "HTTPS_PORT=9444\n");
    const given = { COMPOSE_ENV_FILES: settings };
    expect(run({}).stdout).toBe("https://localhost:8443\n");
    expect(run(given).stdout).toBe("https://localhost:9444\n");
    expect(run({ ...given, BASE_URL: "", HTTPS_PORT: "9443" }).stdout).toBe("https://localhost:9443\n");
    expect(run({ ...given, BASE_URL: "https://app.example" }).stdout).toBe("https://app.example\n");
  });

  it("does not set BASE_URL for the image, where the proxy is always on localhost:8443", () => {
    fake(
      "docker",
      `case "$*" in *pull*) exit 0 ;; esac; ${answering('[ -n "$BASE_URL" ] && echo "$BASE_URL" || echo none')}`,
    );
    expect(run({ HTTPS_PORT: "9443" }).stdout).toBe("none\n");
  });

  it("uses the image if k6 is not installed, and does not change the stack", () => {
    fake("docker", `case "$*" in *pull*) exit 0 ;; esac; ${answering('echo "$*"')}`);
    const { stdout } = run({ K6_WEB_DASHBOARD: "true" });
    expect(stdout).toMatch(
      /^compose --profile loadtest run --rm -T --no-deps( -e K6_\w+)+ loadtest run --quiet main.ts\n$/,
    );
    for (const name of ["NO_USAGE_REPORT", "AUTO_EXTENSION_RESOLUTION", "WEB_DASHBOARD"])
      expect(stdout).toContain(` -e K6_${name} `);
  });

  it("passes the CA as a copy that the image's user may read, also for a relative path", () => {
    writeFileSync(join(box, "my-ca.pem"), "PEM", { mode: 0o600 });
    fakeK6('cat "$SSL_CERT_FILE"; ls -l "$SSL_CERT_FILE"');
    expect(run({ SSL_CERT_FILE: "my-ca.pem", BASE_URL: "https://app.example" }).stdout).toMatch(/^PEM-rw.r..r--/);
    expect(run({ SSL_CERT_FILE: "none.pem" }).stderr).toMatch(
      /^culvert loadtest: SSL_CERT_FILE '.*none.pem' cannot be read: .*\n$/,
    );
  });

  it("first removes the files of an earlier run", () => {
    fakeK6("exit 0");
    run({});
    writeFileSync(join(box, "out/summary.json"), "old");
    run({});
    expect(existsSync(join(box, "out/summary.json"))).toBe(false);
  });
});
