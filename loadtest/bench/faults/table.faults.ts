import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { outcome } from "../../../proxy/spool/test/support/arrivals.ts";
import { isEmpty } from "../../../proxy/spool/test/support/metrics.ts";
import { type Stack, sentryName, startStack } from "../../../proxy/spool/test/support/stack.ts";
import { waitUntil } from "../../../proxy/spool/test/support/wait.ts";
import { buildTunnelRoute } from "../src/images.ts";
import { output } from "../src/paths.ts";
import { forward, type Sender, startBrowser } from "./browsers.ts";

const pages = Number(process.env.PAGES ?? 8);
const durationMs = Number(process.env.FAULT_S ?? 15) * 1_000;
const intervalMs = 500;
const dsn = `https://key@${sentryName}/1`;

const folder = mkdtempSync(join(tmpdir(), "culvert-faults-"));
const rows: string[] = [];
let stack: Stack;
let browser: Awaited<ReturnType<typeof startBrowser>>;
let senders: Sender[];
beforeAll(async () => {
  chmodSync(folder, 0o755);
  const request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" ");
  const names = ["-subj", `/CN=${sentryName}`, "-addext", `subjectAltName=DNS:${sentryName}`];
  const files = ["-out", join(folder, "server.crt"), "-keyout", join(folder, "server.key")];
  execFileSync("openssl", [...request, ...names, ...files], { stdio: "ignore" });
  chmodSync(join(folder, "server.key"), 0o644);
  mkdirSync(output, { recursive: true });
  const rival = { image: await buildTunnelRoute(), cert: folder };
  stack = await startStack({ SENTRY_DSN: dsn }, { proxy: true, rival });
  browser = await startBrowser();
  const culvert = { origin: `https://localhost:${await forward(stack.proxy)}`, tunnel: "/monitoring" };
  const tunnelRoute = { origin: `http://localhost:${await forward(stack.rival)}`, tunnel: "/monitoring?o=1&p=1" };
  senders = [
    { ...culvert, queue: false, dsn, intervalMs },
    { ...tunnelRoute, queue: false, dsn, intervalMs },
    { ...culvert, queue: true, dsn, intervalMs },
  ];
});
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
  rmSync(folder, { recursive: true });
  const cells = "sent | lost | twice";
  const table = [
    `${pages} pages for each, with an event of 2 kB every ${intervalMs} ms each; a fault of ${durationMs / 1_000} s.`,
    "",
    `| Fault | Culvert: ${cells} | tunnelRoute: ${cells} | Culvert, browser's queue: ${cells} | retried |`,
    `|---|${"--:|".repeat(10)}`,
    ...rows,
  ].join("\n");
  writeFileSync(`${output}/faults.md`, `${table}\n`);
  console.log(`\n${table}\n\n==> ${output}/faults.md`);
});

const recover = () => stack.ingest();
const downDuring = async (meanwhile: () => Promise<unknown>) => {
  await stack.ingest({ gone: true });
  await pause(durationMs / 2);
  await meanwhile();
  await pause(durationMs / 2);
};
const restart = () => Promise.all([stack.on("proxy", "restart"), stack.on("rival", "restart")]);

/** A fault, whether the SDK loses nothing through Culvert without a queue of its own, and how the fault begins and ends. */
type Case = [fault: string, lossless: boolean, begin: () => Promise<unknown>, end?: () => Promise<unknown>];

test.each<Case>([
  ["ingest refuses connections", true, () => stack.ingest({ gone: true })],
  ["ingest responds 503", true, () => stack.ingest({ status: 503 })],
  ["ingest responds after 5 s", true, () => stack.ingest({ delay: 5_000 })],
  ["ingest never responds", true, () => stack.ingest({ delay: 120_000, cut: "body" })],
  ["connections cut in the middle of a body", true, () => stack.ingest({ cut: "body" })],
  [
    "ingest's name cannot be resolved",
    true,
    () => stack.on("ingest", "network", "disconnect", stack.id),
    () => stack.on("ingest", "network", "connect", "--alias=ingest", `--alias=${sentryName}`, stack.id),
  ],
  ["ingest is down and the spool is killed", false, () => downDuring(() => stack.kill("spool"))],
  ["proxy, or the app with tunnelRoute, restarted", false, restart],
  ["proxy, or the app with tunnelRoute, killed", false, () => stack.kill("proxy", "rival")],
])("%s", async (fault, lossless, begin, end = recover) => {
  await waitUntil(async () => (await fetch(`${senders[1]?.origin}/healthz`)).ok);
  const open = await Promise.all(senders.map((sender) => browser.open(sender, pages)));
  await pause(3_000);
  await begin();
  await pause(durationMs);
  await end();
  await recover();
  await pause(5_000);
  await Promise.all(open.map((one) => one.stop()));
  await waitUntil(() => isEmpty(stack), 60_000);
  const found = () =>
    Promise.all(
      open.map(async (one) => {
        const { ids, retried } = await one.sent();
        return { sent: ids.length, ...(await outcome(stack, ids)), retried };
      }),
    );
  // The browser's queue retries at growing intervals.
  await waitUntil(async () => (await found())[2]?.lost === 0, 120_000).catch(() => {});
  const results = await found();
  const failures = (await open[0]?.sent())?.failures;
  await Promise.all(open.map((one) => one.close()));
  const cells = results.flatMap(({ sent, lost, repeated }) => [sent, lost, repeated]);
  rows.push(`| ${[fault, ...cells, results[2]?.retried].join(" | ")} |`);
  console.log(rows.at(-1));
  expect(results[2]?.lost, "with the browser's queue").toBe(0);
  if (lossless) expect(results[0]?.lost, `without; failed posts: ${JSON.stringify(failures)}`).toBe(0);
});
