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
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

const script = join(import.meta.dirname, "../run.sh");
// Not all of /usr/bin, where a test that needs a missing k6 or docker could find one.
const tools = "sh dirname grep mkdir rm cp sed tail tee cat env mkfifo".split(" ");
const paths = spawnSync("which", tools, { encoding: "utf8" }).stdout.trim().split("\n");
let box: string;

beforeEach(() => {
  box = mkdtempSync(join(tmpdir(), "culvert-run-"));
  for (const path of paths) symlinkSync(path, join(box, basename(path)));
});
afterEach(() => rmSync(box, { recursive: true }));

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
  const variables = { PATH: box, OUT: join(box, "out"), COMPOSE_ENV_FILES: "/dev/null", ...env };
  const options = { env: variables, cwd: box, encoding: "utf8" } as const;
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

const NOT_RUN = `echo "NOT RUN · smoke: <bad>"; printf '{\n  "result": "not run",\n  "exit": 1\n}\n' >"$OUT/summary.json"; exit 108`;
it.each([
  ["the script", NOT_RUN, 1, "<bad>"],
  ["k6", 'echo "{}" >"$OUT/summary.json"; exit 105', 108, "k6 ended with 105: see OUT/k6.log"],
])("has the reason from %s that ends early, not from a log", (_, body, status, reason) => {
  fakeK6(body);
  const ended = run({ K6_LOG_FORMAT: "json", K6_LOG_OUTPUT: "none" });
  expect(ended).toMatchObject({ status, stdout: `NOT RUN · smoke: ${reason.replace("OUT", join(box, "out"))}\n` });
  expect(JSON.parse(readFileSync(join(box, "out/summary.json"), "utf8"))).toMatchObject({ exit: status });
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
  const stdout = `run --quiet --tag team=shop ${join(import.meta.dirname, "../main.ts")}|true|false|off\n`;
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
  const settings = (dsn: string) => `printf "TUNNEL_PATH=/monitoring\\n${dsn}" >"$OUT/target.env"`;
  fake("node", 'echo "$SPOTLIGHT" >"$OUT/spotlight"; echo "9557 $SPOTLIGHT"');
  const body = 'echo "$BASE_URL $INGEST $READER"; [ -z "$SSL_CERT_FILE" ] || cat "$SSL_CERT_FILE"';
  const stack = { COMPOSE_PROJECT_NAME: "other" };
  const spotlight = () => readFileSync(join(box, "out/spotlight"), "utf8");
  for (const dsn of ["SENTRY_DSN=http://k@ingest:8969/1\\n", ""]) {
    fakeK6(body, "2.2.0", settings(dsn));
    expect(run(stack).stdout).toBe("https://localhost:9555 http://127.0.0.1:9557 http://127.0.0.1:9557\nPEM\n");
    expect(spotlight()).toBe("http://127.0.0.1:9556\n");
  }
  // Another app on this machine, of which nothing says where its events go.
  expect(run({ ...stack, BASE_URL: "http://localhost:3000" }).stdout).toBe(
    "http://localhost:3000  http://127.0.0.1:9557\n",
  );
  expect(spotlight()).toBe("\n");
});

it("takes what the target has from a TARGET file; the environment wins", () => {
  fakeK6('echo "$PAGES|$EXPECT_TEXT|$ROUTER|$TARGET|$TARGET_NAMES"');
  writeFileSync(join(box, "shop.env"), "# The shop\n\nPAGES=/a\nEXPECT_TEXT=/a=The a=b shop\nROUTER=app");
  const { stdout } = run({ TARGET: "shop.env", PAGES: "/b" });
  expect(stdout).toBe(`/b|/a=The a=b shop|app|shop.env| PAGES EXPECT_TEXT ROUTER\n`);
  writeFileSync(join(box, "shop.env"), "pages: /a\n");
  expect(run({ TARGET: "shop.env" }).stderr).toContain("TARGET: 'pages: /a' is not a setting: write NAME=value");
});

it("takes each path relative to the shell, also that of the CA", () => {
  fakeK6('echo "$OUT $PWD"; cat "$SSL_CERT_FILE"');
  writeFileSync(join(box, "shop.env"), "PAGES=/a\n");
  writeFileSync(join(box, "my-ca.pem"), "PEM");
  const env = { OUT: "results", TARGET: "shop.env", SSL_CERT_FILE: "my-ca.pem", BASE_URL: "https://app.example" };
  expect(run(env).stdout).toBe(`results ${box}\nPEM`);
  expect(existsSync(join(box, "results/k6.log"))).toBe(true);
});

it("keeps k6's log in a file, and first removes the files of an earlier run", () => {
  fakeK6('echo "Request Failed" >&2');
  mkdirSync(join(box, "out"));
  for (const file of ["k6.log", "summary.json"]) writeFileSync(join(box, "out", file), "old");
  expect(run().stderr).not.toContain("Request Failed");
  expect(readFileSync(join(box, "out/k6.log"), "utf8")).toBe("Request Failed\n");
  expect(existsSync(join(box, "out/summary.json"))).toBe(false);
});
