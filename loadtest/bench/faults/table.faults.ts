import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isEmpty, outcome } from "../../../proxy/spool/test/report.ts";
import { type Stack, sentryName, startStack, until } from "../../../proxy/spool/test/stack.ts";
import { buildTunnelRoute } from "../src/images.ts";
import { output } from "../src/places.ts";
import { send, type Tunnel } from "./sender.ts";

const rate = Number(process.env.RATE ?? 50);
const lasts = Number(process.env.FAULT_S ?? 15) * 1_000;

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
    `Up to ${rate} reports a second of 2 KB to each, a fault of ${lasts / 1_000} s. Sent again: by the browser, which keeps what nobody took.`,
    "",
    "| Fault | Culvert: sent | lost | twice | sent again | tunnelRoute: sent | lost | twice |",
    "|---|--:|--:|--:|--:|--:|--:|--:|",
  ];
  const table = [...head, ...rows].join("\n");
  writeFileSync(`${output}/faults.md`, `${table}\n`);
  console.log(`\n${table}\n\n==> ${output}/faults.md`);
});

const well = () => stack.ingest();
const goneFor = async (meanwhile: () => Promise<unknown>) => {
  await stack.ingest({ gone: true });
  await pause(lasts / 2);
  await meanwhile();
  await pause(lasts / 2);
};

test.each<[fault: string, begin: () => Promise<unknown>, end?: () => Promise<unknown>]>([
  ["ingest refuses connections", () => stack.ingest({ gone: true })],
  ["ingest answers 503", () => stack.ingest({ status: 503 })],
  ["ingest takes 5 s for each", () => stack.ingest({ delay: 5_000 })],
  ["ingest never answers", () => stack.ingest({ delay: 120_000, cut: "body" })],
  ["connections cut in the middle of a body", () => stack.ingest({ cut: "body" })],
  [
    "ingest's name is gone",
    () => stack.on("ingest", "network", "disconnect", stack.id),
    () => stack.on("ingest", "network", "connect", "--alias=ingest", `--alias=${sentryName}`, stack.id),
  ],
  ["ingest is gone, and the spool is killed", () => goneFor(() => stack.kill("spool"))],
  ["proxy killed; the app with tunnelRoute killed", () => stack.kill("proxy", "rival")],
  [
    "ingest answers 429 to replays (the SDK drops them)",
    () => stack.ingest({ item: "replay_event", status: 429, headers: { "x-sentry-rate-limits": "5:replay:key" } }),
  ],
])("%s", async (fault, begin, end = well) => {
  const tunnels: Tunnel[] = [
    { origin: `https://${stack.proxy.host}:${stack.proxy.port}`, path: "/monitoring", keeps: true },
    { origin: `http://${stack.rival.host}:${stack.rival.port}`, path: "/monitoring?o=1&p=1", keeps: false },
  ];
  await until(async () => (await fetch(`${tunnels[1]?.origin}/healthz`)).ok);
  const course = async () => {
    await pause(3_000);
    await begin();
    await pause(lasts);
    await end();
    await well();
    await pause(5_000);
  };
  const sents = await send(tunnels, rate, course());
  await until(() => isEmpty(stack), 60_000);
  const [ours, theirs] = await Promise.all(sents.map(({ ids }) => outcome(stack, ids)));
  const cells = [
    ...[fault, sents[0]?.ids.length, ours?.lost, ours?.repeated, sents[0]?.again],
    ...[sents[1]?.ids.length, theirs?.lost, theirs?.repeated],
  ];
  rows.push(`| ${cells.join(" | ")} |`);
  console.log(rows.at(-1));
  if (!fault.includes("429")) expect(ours?.lost).toBe(0);
});
