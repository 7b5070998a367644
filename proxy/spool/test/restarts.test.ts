import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Composed, startComposed } from "./composed.ts";
import type { Rule } from "./ingest/types.ts";
import { row } from "./outage.ts";
import { envelope, isEmpty, newId, outcome } from "./report.ts";
import { until } from "./stack.ts";
import { ask, type Visits, visit } from "./visitors.ts";

const folder = mkdtempSync(join(tmpdir(), "culvert-"));
const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];

/** Writes a new certificate over the one that the proxy has, which stays the same file as a renewal would leave it. */
function certify(name: string): void {
  const subject = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=DNS:localhost"];
  const kind = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" ");
  execFileSync("openssl", [...kind, ...subject, "-out", cert, "-keyout", key], { stdio: "ignore" });
  chmodSync(key, 0o644);
}

let stack: Composed;
beforeAll(async () => {
  chmodSync(folder, 0o755);
  certify("first");
  stack = await startComposed({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key });
  await until(serves);
});
afterAll(async () => {
  await stack?.stop();
  rmSync(folder, { recursive: true });
});

const serves = async () => (await ask(stack.proxy, "/upstream")) === 200;
const restart = (service: string) => () => stack.compose("restart", service);
const running = () => stack.compose("ps", "-q", "proxy");

/**
 * 50 reports that have reached the ingest, which does not answer yet, when `change` begins: all are answered 200 at their first
 * offer, and have arrived when nothing waits any more.
 */
async function inFlight(mood: Rule, change: () => Promise<unknown>): Promise<void> {
  await stack.ingest(mood);
  const mark = await stack.seen();
  const ids = Array.from({ length: 50 }, newId);
  const answers = Promise.all(ids.map((id) => ask(stack.proxy, "/monitoring", envelope("event", id, 1_900), 60_000)));
  await until(async () => (await stack.seen()) - mark >= 50, 150_000);
  await change();
  expect(await answers).toEqual(ids.map(() => 200));
  await stack.ingest();
  await until(() => isEmpty(stack), 150_000);
  expect((await outcome(stack, ids)).lost).toBe(0);
}

test("restart proxy: reports in flight to an ingest that hangs are kept by the spool first, and answered", () =>
  inFlight({ delay: 60_000, cut: "body" }, restart("proxy")));

test("up -d with a new image of the proxy: reports in flight are answered by the ingest first", async () => {
  const before = await running();
  await inFlight({ delay: 4_000 }, () => stack.replaceProxy());
  expect(await running()).not.toBe(before);
});

/**
 * 100 reports a second while `change` goes on, before and after. What gets no answer is offered again, as the browser's queue does:
 * Nginx ends connections of which it has not begun to read a request. The row that is printed says how many those were.
 */
async function underLoad(what: string, change: () => Promise<unknown>): Promise<Visits> {
  const visits = await visit(stack, 100, async (more) => {
    await more(100);
    await change();
    await until(serves);
    await more(100);
  });
  await stack.ingest();
  expect(await row(stack, what, visits)).toMatchObject({ lost: 0 });
  return visits;
}

test("restart proxy under load: nothing is lost", async () => {
  await underLoad("restart proxy", restart("proxy"));
});

test("up -d with a new image of the proxy under load: nothing is lost", async () => {
  const before = await running();
  await underLoad("new image", () => stack.replaceProxy());
  expect(await running()).not.toBe(before);
});

test("a renewed certificate under load: nothing is lost, nothing is offered again and no page fails", async () => {
  const served = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const where = { ...stack.proxy, servername: "localhost", rejectUnauthorized: false };
      const socket = connect(where);
      socket.on("error", reject).on("secureConnect", () => {
        resolve(String(socket.getPeerCertificate().subject.CN));
        socket.destroy();
      });
    });
  expect(await served()).toBe("first");
  const { again, pages } = await underLoad("renewed certificate", async () => {
    certify("second");
    await until(async () => (await served()) === "second");
  });
  expect([again, pages.failed]).toEqual([{}, []]);
});

test("restart spool under load while the ingest answers 503: every report is answered, and nothing is lost", async () => {
  await stack.ingest({ status: 503 });
  const { again } = await underLoad("restart spool", restart("spool"));
  expect(Object.keys(again).filter((answer) => answer !== "503")).toEqual([]);
});
