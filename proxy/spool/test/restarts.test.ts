import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connect } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Composed, startComposed } from "./composed.ts";
import type { Rule } from "./ingest/types.ts";
import { envelope, isEmpty, newId, outcome } from "./report.ts";
import { until } from "./stack.ts";

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
  await until(async () => (await send(newId())).status === 200);
});
afterAll(async () => {
  agent.destroy();
  await stack?.stop();
  rmSync(folder, { recursive: true });
});

// A connection for each: one that is kept may end just as the next report leaves, which a browser sends again by itself.
const agent = new Agent({ keepAlive: false, rejectUnauthorized: false });

/** What became of a report: the proxy's answer, or none; `whole` when all of it had gone out. */
interface Sent {
  id: string;
  status: number | undefined;
  whole: boolean;
  why?: string;
}

function send(id: string): Promise<Sent> {
  return new Promise((resolve) => {
    let whole = false;
    const headers = { host: "localhost", "content-type": "text/plain" };
    const options = { ...stack.proxy, path: "/monitoring", method: "POST", agent, headers };
    const outgoing = request({ ...options, servername: "localhost" }, (response) => {
      response.resume().on("end", () => resolve({ id, status: response.statusCode, whole }));
      response.on("error", ({ message }) => resolve({ id, status: undefined, whole, why: message }));
    });
    outgoing.on("finish", () => {
      whole = true;
    });
    outgoing.on("error", ({ message }) => resolve({ id, status: undefined, whole, why: message }));
    outgoing.end(envelope("event", id, 1_900));
  });
}

/** 50 reports that have reached the ingest, which does not answer yet, when `change` begins; resolves with what became of them. */
async function inFlight(mood: Rule, change: () => Promise<unknown>): Promise<Sent[]> {
  await stack.ingest(mood);
  const mark = await stack.seen();
  const sent = Promise.all(Array.from({ length: 50 }, () => send(newId())));
  await until(async () => (await stack.seen()) - mark === 50);
  await change();
  return sent;
}

/** 100 reports a second while `change` goes on, before, and until its end shows. */
async function underLoad(change: () => Promise<unknown>): Promise<Sent[]> {
  const sent: Promise<Sent>[] = [];
  const more = async () => {
    for (const enough = sent.length + 100; sent.length < enough; ) await pause(20);
  };
  let over = false;
  const loading = (async () => {
    for (; !over; await pause(20)) for (let i = 0; i < 2; i++) sent.push(send(newId()));
  })();
  await more();
  await change();
  await until(async () => (await send(newId())).status === 200);
  await more();
  over = true;
  await loading;
  return Promise.all(sent);
}

/** Waits until nothing waits, prints a row, and expects that whatever was answered 200 has arrived; returns those that were not. */
async function notAccepted(what: string, sent: Sent[]): Promise<Sent[]> {
  await stack.ingest();
  await until(() => isEmpty(stack), 60_000);
  const accepted = sent.filter(({ status }) => status === 200).map(({ id }) => id);
  const others = sent.filter(({ status }) => status !== 200);
  const counts: Record<string, number> = {};
  for (const { status, whole, why } of others) {
    const outcome = `${status ?? why}${whole ? ", sent whole" : ""}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  console.log(`${what}: ${sent.length} sent, ${accepted.length} answered 200, others ${JSON.stringify(counts)}`);
  expect((await outcome(stack, accepted)).lost).toBe(0);
  return others;
}

const restart = (service: string) => () => stack.compose("restart", service);

test("restart proxy: reports in flight to an ingest that hangs are kept by the spool first, and answered", async () => {
  const sent = await inFlight({ delay: 60_000, cut: "body" }, restart("proxy"));
  expect(await notAccepted("restart proxy, ingest hangs", sent)).toEqual([]);
});

test("up -d with a new image of the proxy: reports in flight are answered by the ingest first", async () => {
  const running = () => stack.compose("ps", "-q", "proxy");
  const before = await running();
  const sent = await inFlight({ delay: 4_000 }, () => stack.replaceProxy());
  expect(await notAccepted("new image", sent)).toEqual([]);
  expect(await running()).not.toBe(before);
});

// Nginx ends a connection whose request it has not begun to read, though the handshake is done. Its sender got no answer: a browser
// keeps the report. They are few on a quiet machine; what it has begun is the matter of the tests above.
const unanswered = (sent: Sent[]) => sent.filter(({ status, whole }) => status === undefined && whole).length;

test("restart proxy under load: what was answered 200 arrives", async () => {
  const sent = await underLoad(restart("proxy"));
  expect(unanswered(await notAccepted("restart proxy", sent))).toBeLessThan(sent.length / 10);
});

test("a renewed certificate under load: every report is answered", async () => {
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
  const sent = await underLoad(async () => {
    certify("second");
    await until(async () => (await served()) === "second");
  });
  const others = await notAccepted("renewed certificate", sent);
  expect(others.length).toBeLessThan(sent.length / 50);
});

test("restart spool under load while the ingest answers 503: every report is answered", async () => {
  await stack.ingest({ status: 503 });
  const sent = await underLoad(restart("spool"));
  const others = await notAccepted("restart spool", sent);
  expect(others.filter(({ status }) => status !== 503)).toEqual([]);
});
