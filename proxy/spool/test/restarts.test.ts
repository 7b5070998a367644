import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { outcome } from "./support/arrivals.ts";
import { type ComposeStack, startComposeStack } from "./support/compose-stack.ts";
import { envelope, newId } from "./support/envelopes.ts";
import { printResult } from "./support/fault-result.ts";
import type { Rule } from "./support/ingest/types.ts";
import { type LoadResult, runLoad } from "./support/load.ts";
import { isEmpty } from "./support/metrics.ts";
import { requestProxy } from "./support/proxy-request.ts";
import { waitUntil } from "./support/wait.ts";

const folder = mkdtempSync(join(tmpdir(), "culvert-"));
const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];

/** Overwrites the proxy's certificate in place, as a renewal does. */
function certify(name: string): void {
  const subject = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=DNS:localhost"];
  const kind = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" ");
  execFileSync("openssl", [...kind, ...subject, "-out", cert, "-keyout", key], { stdio: "ignore" });
  chmodSync(key, 0o644);
}

let stack: ComposeStack;
beforeAll(async () => {
  chmodSync(folder, 0o755);
  certify("first");
  stack = await startComposeStack({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key });
  await waitUntil(serves);
});
afterAll(async () => {
  await stack?.stop();
  rmSync(folder, { recursive: true });
});

const serves = async () => (await requestProxy(stack.proxy, "/upstream")) === 200;
const restart = (service: string) => () => stack.compose("restart", service);
const running = () => stack.compose("ps", "-q", "proxy");

/**
 * Starts `change` when 50 envelopes have reached an ingest that does not answer yet: all are answered with 200 at the first attempt,
 * and have arrived when the spool is empty.
 */
async function inFlight(fault: Rule, change: () => Promise<unknown>): Promise<void> {
  await stack.ingest(fault);
  const mark = await stack.seen();
  const ids = Array.from({ length: 50 }, newId);
  const answers = Promise.all(
    ids.map((id) => requestProxy(stack.proxy, "/monitoring", envelope("event", id, 1_900), 60_000)),
  );
  await waitUntil(async () => (await stack.seen()) - mark >= 50, 600_000);
  await change();
  expect(await answers).toEqual(ids.map(() => 200));
  await stack.ingest();
  await waitUntil(() => isEmpty(stack), 600_000);
  expect((await outcome(stack, ids)).lost).toBe(0);
}

test("restart proxy: envelopes in flight to an ingest that hangs are queued by the spool and answered before the proxy stops", () =>
  inFlight({ delay: 60_000, cut: "body" }, restart("proxy")));

test("up -d with a new proxy image: envelopes in flight are answered by the ingest before the proxy stops", async () => {
  const before = await running();
  await inFlight({ delay: 4_000 }, () => stack.replaceProxy());
  expect(await running()).not.toBe(before);
});

/**
 * Sends 100 envelopes per second before, during and after `change`. Without a response an envelope is sent again, as by the browser's
 * offline queue: Nginx closes connections whose request it has not begun to read. The printed result says how many those were.
 */
async function underLoad(what: string, change: () => Promise<unknown>): Promise<LoadResult> {
  const load = await runLoad(stack, 100, async (more) => {
    await more(100);
    await change();
    await waitUntil(serves);
    await more(100);
  });
  await stack.ingest();
  expect(await printResult(stack, what, load)).toMatchObject({ lost: 0 });
  return load;
}

test("restart proxy under load: nothing is lost", async () => {
  await underLoad("restart proxy", restart("proxy"));
});

test("up -d with a new proxy image under load: nothing is lost", async () => {
  const before = await running();
  await underLoad("new image", () => stack.replaceProxy());
  expect(await running()).not.toBe(before);
});

test("a renewed certificate under load: nothing is lost, nothing has to be sent again, no page fails", async () => {
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
  const { retries, pages } = await underLoad("renewed certificate", async () => {
    certify("second");
    await waitUntil(async () => (await served()) === "second");
  });
  expect([retries, pages.failed]).toEqual([{}, []]);
});

test("restart spool under load while the ingest answers 503: every envelope gets a response, and nothing is lost", async () => {
  await stack.ingest({ status: 503 });
  const { retries } = await underLoad("restart spool", restart("spool"));
  expect(Object.keys(retries).filter((answer) => answer !== "503")).toEqual([]);
});
