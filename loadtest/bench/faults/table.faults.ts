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
import { send, type Tunnel } from "./sender.ts";

const rate = Number(process.env.RATE ?? 50);
const durationMs = Number(process.env.FAULT_S ?? 15) * 1_000;

const folder = mkdtempSync(join(tmpdir(), "culvert-faults-"));
const rows: string[] = [];
let stack: Stack;
beforeAll(async () => {
  chmodSync(folder, 0o755);
  const request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" ");
  const names = ["-subj", `/CN=${sentryName}`, "-addext", `subjectAltName=DNS:${sentryName}`];
  const files = ["-out", join(folder, "server.crt"), "-keyout", join(folder, "server.key")];
  execFileSync("openssl", [...request, ...names, ...files], { stdio: "ignore" });
  chmodSync(join(folder, "server.key"), 0o644);
  mkdirSync(output, { recursive: true });
  const rival = { image: await buildTunnelRoute(), cert: folder };
  stack = await startStack({ SENTRY_DSN: `https://key@${sentryName}/1` }, { proxy: true, rival });
});
afterAll(async () => {
  await stack?.stop();
  rmSync(folder, { recursive: true });
  const head = [
    `Up to ${rate} envelopes a second of 2 KB to each, a fault of ${durationMs / 1_000} s. Retried: by the browser, which queues envelopes that were not accepted.`,
    "",
    "| Fault | Culvert: sent | lost | duplicated | retried | tunnelRoute: sent | lost | duplicated |",
    "|---|--:|--:|--:|--:|--:|--:|--:|",
  ];
  const table = [...head, ...rows].join("\n");
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

test.each<[fault: string, begin: () => Promise<unknown>, end?: () => Promise<unknown>]>([
  ["ingest refuses connections", () => stack.ingest({ gone: true })],
  ["ingest responds 503", () => stack.ingest({ status: 503 })],
  ["ingest responds after 5 s", () => stack.ingest({ delay: 5_000 })],
  ["ingest never responds", () => stack.ingest({ delay: 120_000, cut: "body" })],
  ["connections cut in the middle of a body", () => stack.ingest({ cut: "body" })],
  [
    "ingest's name cannot be resolved",
    () => stack.on("ingest", "network", "disconnect", stack.id),
    () => stack.on("ingest", "network", "connect", "--alias=ingest", `--alias=${sentryName}`, stack.id),
  ],
  ["ingest is down and the spool is killed", () => downDuring(() => stack.kill("spool"))],
  ["proxy killed; the app with tunnelRoute killed", () => stack.kill("proxy", "rival")],
  [
    "ingest responds 429 to replays (the SDK drops them)",
    () => stack.ingest({ item: "replay_event", status: 429, headers: { "x-sentry-rate-limits": "5:replay:key" } }),
  ],
])("%s", async (fault, begin, end = recover) => {
  const tunnels: Tunnel[] = [
    { origin: `https://${stack.proxy.host}:${stack.proxy.port}`, path: "/monitoring", retries: true },
    { origin: `http://${stack.rival.host}:${stack.rival.port}`, path: "/monitoring?o=1&p=1", retries: false },
  ];
  await waitUntil(async () => (await fetch(`${tunnels[1]?.origin}/healthz`)).ok);
  const course = async () => {
    await pause(3_000);
    await begin();
    await pause(durationMs);
    await end();
    await recover();
    await pause(5_000);
  };
  const sents = await send(tunnels, rate, course());
  await waitUntil(() => isEmpty(stack), 60_000);
  const [ours, theirs] = await Promise.all(sents.map(({ ids }) => outcome(stack, ids)));
  const cells = [
    ...[fault, sents[0]?.ids.length, ours?.lost, ours?.repeated, sents[0]?.retried],
    ...[sents[1]?.ids.length, theirs?.lost, theirs?.repeated],
  ];
  rows.push(`| ${cells.join(" | ")} |`);
  console.log(rows.at(-1));
  if (!fault.includes("429")) expect(ours?.lost).toBe(0);
});
