import { randomUUID } from "node:crypto";
import { afterAll, beforeEach, expect, onTestFailed, test } from "vitest";
import { docker } from "../../../deploy/test/support/docker.ts";
import { envelope, isEmpty, metric, newId, outcome, sendMany } from "./support/envelopes.ts";
import { requestPage, requestProxy, runLoad, unsent } from "./support/load.ts";
import { onVolume, startStack, waitUntil } from "./support/stack.ts";

const volume = `culvert-spool-${randomUUID().slice(0, 8)}`;
const mount = `--volume=${volume}:/var/lib/spool`;

const stack = await startStack({}, { proxy: [] });
await waitUntil(async () => (await requestPage(stack)) === 200);
beforeEach(() => stack.ingest({ status: 503 }));
afterAll(async () => {
  await stack.stop();
  await docker("volume", "rm", volume);
});

const sendThroughProxy = (id = newId()) => requestProxy(stack, "/monitoring", envelope("event", id, 20_000));

async function restartOnVolume(change: string): Promise<void> {
  await onVolume(mount, `${change}; chown 1000:1000 .`);
  await stack.replaceSpool(mount);
}

async function expectFallback(line: RegExp): Promise<void> {
  await waitUntil(async () => line.test(await stack.logs()));
  await stack.ingest({ status: 503 });
  expect(await sendThroughProxy()).toBe(503);
  expect(await requestPage(stack)).toBe(200);
}

test("a full disk: a log line and 503, pages work; the spool recovers once there is space", async () => {
  await stack.replaceSpool("--tmpfs=/var/lib/spool:uid=1000,gid=1000,mode=0700,size=80m");
  const ids = await sendMany(stack.url, 20, "event", 20_000);
  expect(ids).toHaveLength(20);
  await stack.inside("dd if=/dev/zero of=/var/lib/spool/other bs=1M count=200 2>/dev/null || true");
  expect(await sendThroughProxy()).toBe(503);
  await expectFallback(
    /^culvert spool: the disk under \/var\/lib\/spool is full: 0 MB are free, 64 MB of any disk stay unused\. Lower/m,
  );
  await stack.inside("rm /var/lib/spool/other");
  const last = newId();
  expect(await sendThroughProxy(last)).toBe(200);
  await stack.ingest();
  await waitUntil(() => isEmpty(stack));
  expect(await outcome(stack, [...ids, last])).toEqual({ lost: 0, repeated: 0 });
});

test("a database damaged while in use: a log line, exit and 503, pages work", async () => {
  await restartOnVolume("rm -f spool.*");
  await sendMany(stack.url, 100, "event", 100_000);
  // From another container: the spool may exit before the command ends.
  await onVolume(mount, "dd if=/dev/urandom of=spool.db bs=64k count=200 conv=notrunc 2>/dev/null");
  await stack.ingest();
  await expectFallback(
    /^culvert spool: \/var\/lib\/spool holds a damaged spool\.db \(.+\): move spool\.db and spool\.db-wal away/m,
  );
  await waitUntil(async () => (await stack.on("spool", "inspect", "-f", "{{.State.ExitCode}}")) === "1");
});

test("a truncated write-ahead log or a deleted database: a log line and a metric, and the spool goes on", async () => {
  const expectLost = async (damage: string, count: number, reason: string, line: string) => {
    await sendMany(stack.url, count, "event", 5_000);
    const mark = async () => JSON.parse(await stack.inside("cat /var/lib/spool/spool.count"));
    await waitUntil(async () => (await mark()).queued === count);
    await stack.on("spool", "kill", "-s", "KILL");
    await restartOnVolume(damage);
    await waitUntil(async () => new RegExp(`^culvert spool: /var/lib/spool ${line}`, "m").test(await stack.logs()));
    expect(await metric(stack, `lost_total{reason="${reason}",category="default"}`)).toBe(count);
  };
  await restartOnVolume("rm -f spool.*");
  await expectLost(
    "truncate -s 100 spool.db-wal",
    5,
    "set_back",
    "holds a spool.db that was set back, .+: 5 envelopes",
  );
  await expectLost("rm spool.db spool.db-wal", 3, "gone", "has lost its spool.db: 3 envelopes are lost;");
  // As after a power cut.
  await restartOnVolume("truncate -s 3 spool.count");
  expect(await stack.logs()).not.toContain("lost");
});

test("a proxy that starts without a spool serves pages, and finds the spool once it starts", async () => {
  await stack.replaceSpool();
  await stack.on("spool", "stop", "-t", "0");
  await stack.on("proxy", "restart");
  await waitUntil(async () => (await requestPage(stack)) === 200);
  expect(await sendThroughProxy()).toBe(503);
  await stack.on("spool", "start");
  await waitUntil(async () => (await sendThroughProxy()) === 200);
});

/** src/deliver/backoff.ts */
const maxConcurrency = 32;

test("spool and proxy are killed and restarted while the ingest is down: nothing is lost", async () => {
  onTestFailed(async () => {
    for (const service of ["ingest", "spool", "proxy"] as const) await stack.on(service, "start");
    await waitUntil(() => stack.ingest().then(() => true));
  });
  await stack.ingest();
  const { lost, repeated, retries } = await runLoad(stack, async (more) => {
    const steps = [
      () => stack.on("ingest", "stop", "-t", "0"),
      () => stack.kill("spool").then(stack.ready),
      () => stack.kill("proxy"),
      () => Promise.all([stack.on("spool", "restart"), stack.on("proxy", "restart")]),
      () => stack.kill("spool", "proxy"),
      () => stack.on("ingest", "start"),
      () => stack.kill("spool"),
    ];
    for (const step of steps) {
      await more(100);
      await step();
    }
    await more(100);
  });
  expect(lost).toBe(0);
  // Each has a cause: it was stored without a response (with a 503 too: the spool was killed before it answered the proxy) and was
  // sent again, or it was being delivered when the spool was killed. The proxy stores nothing that it did not receive, or rejected.
  const stored = Object.entries(retries).filter(([answer]) => answer !== "429" && !answer.endsWith(unsent));
  const maybeStored = stored.reduce((sum, [, count]) => sum + count, 0);
  expect(repeated).toBeLessThanOrEqual(maybeStored + 3 * maxConcurrency);
});
