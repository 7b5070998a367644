import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

const script = join(import.meta.dirname, "../run.sh");
const TOOLS = "sh dirname mkdir rm cp sed tail tee cat env mkfifo".split(" ");
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

/** A k6 of this version. Its preflight finds a target without a tunnel, so that no reader is started. */
function fakeK6(body: string, version = "2.2.0", preflight = 'echo TUNNEL_PATH=off >"$OUT/target.env"'): void {
  fake(
    "k6",
    `case "$*" in *version) echo "k6 v${version} (commit)" ;; *preflight.ts) ${preflight} ;; *)\n${body}\n;; esac`,
  );
}

function run(env: Record<string, string> = {}, args: string[] = []) {
  const own = { PATH: box, OUT: join(box, "out"), COMPOSE_ENV_FILES: "/dev/null", ...env };
  const options = { env: own, cwd: box, encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync(join(box, "sh"), [script, ...args], options);
  return { status, stdout, stderr };
}

it.each([
  [{ PROFILE: "../smoke" }, "PROFILE '../smoke' is not a profile: see README.md"],
  [{ SSL_CERT_FILE: "/none" }, "SSL_CERT_FILE '/none' cannot be read: give the path of a file"],
  [{ TARGET: "/none" }, "TARGET '/none' cannot be read: give a file of NAME=value, which PROFILE=preflight proposes"],
  [{ K6: "1.4.0" }, "k6 1.4.0 is too old: install 2.0 or newer"],
])("says in one line why it does not run: %j", ({ K6, ...env }: Record<string, string>, line) => {
  fakeK6("echo ran", K6);
  expect(run(env)).toEqual({ status: 1, stdout: "", stderr: `culvert loadtest: ${line}\n` });
});

it("says how to install k6", () => {
  expect(run().stderr).toMatch(/^culvert loadtest: k6 is not on PATH: install it .*\n$/);
});

it.each([
  ["the preflight stops", `printf '%s\\n' "$said" >&2; exit 107`, "exit 0"],
  [
    "k6 ends early, whatever it has measured",
    ":",
    `printf '%s\\n' "$said" >&2; echo "{}" >"$OUT/summary.json"; exit 105`,
  ],
])("says as its result the reason why %s", (_, preflight, body) => {
  const said = `time="now" level=error msg="Error: RATE \\"fast\\": <bad>\\n\\tat setup (file:///a.ts:1)\\n" hint="script exception"`;
  fakeK6(body, "2.2.0", `echo TUNNEL_PATH=off >"$OUT/target.env"; ${preflight}`);
  const { status, stdout, stderr } = run({ said });
  expect([status, stdout]).toEqual([108, 'NOT RUN · smoke: RATE "fast": <bad>\n']);
  expect(stderr).toContain("exit code 108, NOT RUN");
  const read = (file: string) => readFileSync(join(box, "out", file), "utf8");
  expect(JSON.parse(read("summary.json"))).toMatchObject({ exit: 108, problem: 'RATE "fast": <bad>' });
});

it("does without a browser that does not start, and says why; BROWSER=off asks for none", () => {
  fakeK6('echo "$NO_BROWSER"');
  fake("chromium", 'case "$*" in *--no-sandbox*--b*) ;; *) echo "[1:ERROR:a.cc(1)] No root." >&2; exit 1 ;; esac');
  expect(run().stdout).toMatch(/chromium does not start: No root\. Set K6_BROWSER_ARGS, such as no-sandbox\n$/);
  expect(run({ K6_BROWSER_ARGS: "no-sandbox,b" }).stdout).toBe("\n");
  expect(run({ BROWSER: "off" }).stdout).toBe("\n");
});

it("runs the profile's script without usage reports and with its arguments", () => {
  fakeK6('echo "$*|$K6_NO_USAGE_REPORT|$K6_AUTO_EXTENSION_RESOLUTION|$TUNNEL_PATH"');
  const stdout = "run --quiet --tag team=shop main.ts|true|false|off\n";
  expect(run({ PROFILE: "average" }, ["--tag", "team=shop"])).toMatchObject({ status: 0, stdout });
});

it("finds the stack on this machine by its HTTPS_PORT, from the shell or .env; BASE_URL wins", () => {
  fakeK6('echo "$BASE_URL"');
  const COMPOSE_ENV_FILES = join(box, "settings");
  writeFileSync(COMPOSE_ENV_FILES, "HTTPS_PORT=9444\n");
  expect(run().stdout).toBe("https://localhost:8443\n");
  expect(run({ COMPOSE_ENV_FILES }).stdout).toBe("https://localhost:9444\n");
  expect(run({ COMPOSE_ENV_FILES, BASE_URL: "", HTTPS_PORT: "9443" }).stdout).toBe("https://localhost:9443\n");
  expect(run({ COMPOSE_ENV_FILES, BASE_URL: "https://app.example" }).stdout).toBe("https://app.example\n");
});

it("asks the running stack for its port, its CA and its ingest, also of another project", () => {
  const said =
    '*"port proxy 8443"*) echo 0.0.0.0:9555 ;; *"port ingest 8969"*) echo 127.0.0.1:9556 ;; *"exec -T proxy cat"*) echo PEM ;;';
  fake("docker", `[ "$COMPOSE_PROJECT_NAME" = other ] || exit 1; case "$*" in ${said} *) exit 1 ;; esac`);
  const settings = 'printf "TUNNEL_PATH=/monitoring\\nSENTRY_DSN=http://k@ingest:8969/1\\n" >"$OUT/target.env"';
  fakeK6('echo "$BASE_URL $INGEST"; cat "$SSL_CERT_FILE"', "2.2.0", settings);
  fake("node", 'echo "9557"; echo "$SPOTLIGHT" >"$OUT/spotlight"');
  const outcome = run({ COMPOSE_PROJECT_NAME: "other" });
  expect(outcome.stdout).toBe("https://localhost:9555 http://127.0.0.1:9557\nPEM\n");
  expect(readFileSync(join(box, "out/spotlight"), "utf8")).toBe("http://127.0.0.1:9556\n");
});

it("takes what the target has from a TARGET file; the environment wins", () => {
  fakeK6('echo "$PAGES|$EXPECT_TEXT|$ROUTER|$TARGET"', "2.2.0", 'echo TUNNEL_PATH=off >"$OUT/target.env"');
  writeFileSync(join(box, "shop.env"), "# The shop\n\nPAGES=/a\nEXPECT_TEXT=/a=The a=b shop\nROUTER=app");
  const { stdout } = run({ TARGET: "shop.env", PAGES: "/b" });
  expect(stdout).toBe(`/b|/a=The a=b shop|app|${join(box, "shop.env")}\n`);
  writeFileSync(join(box, "shop.env"), "pages: /a\n");
  expect(run({ TARGET: "shop.env" }).stderr).toContain("TARGET: 'pages: /a' is not a setting: write NAME=value");
});

it("keeps k6's log in a file, and first removes the files of an earlier run", () => {
  fakeK6('echo "Request Failed" >&2');
  mkdirSync(join(box, "out"));
  for (const file of ["k6.log", "summary.json"]) writeFileSync(join(box, "out", file), "old");
  expect(run().stderr).not.toContain("Request Failed");
  expect(readFileSync(join(box, "out/k6.log"), "utf8")).toBe("Request Failed\n");
  expect(existsSync(join(box, "out/summary.json"))).toBe(false);
});

it("passes the CA, also for a relative path", () => {
  writeFileSync(join(box, "my-ca.pem"), "PEM");
  fakeK6('cat "$SSL_CERT_FILE"');
  expect(run({ SSL_CERT_FILE: "my-ca.pem", BASE_URL: "https://app.example" }).stdout).toBe("PEM");
});
