import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { makePair } from "../../../deploy/test/support/certificate.ts";
import { isEmpty, outcome } from "../../../proxy/spool/test/support/envelopes.ts";
import { type Stack, startStack, waitUntil } from "../../../proxy/spool/test/support/stack.ts";
import { forward, type Sender, startBrowser } from "./browsers.ts";
import type { Comparison, Options } from "./main.ts";

const PAGES = 5;
const INTERVAL_MS = 500;
/** An ingest name that the SDK's `tunnelRoute` accepts. */
const sentryName = "o1.ingest.sentry.io";

const tunnels = ["proxy", "next", "node"] as const;

/** A fault by its name: how it begins, and how it ends if not with a healthy ingest. */
type Fault = [name: string, begin: () => Promise<unknown>, end?: () => Promise<unknown>];

const faultsOf = (stack: Stack, milliseconds: number): Fault[] => [
  ["ingest refuses connections", () => stack.ingest({ gone: true })],
  ["ingest responds 503", () => stack.ingest({ status: 503 })],
  ["ingest takes 5 s per event", () => stack.ingest({ delay: 5_000 })],
  ["ingest never responds", () => stack.ingest({ delay: 120_000, cut: "body" })],
  ["connections are cut within a body", () => stack.ingest({ cut: "body" })],
  [
    "ingest's name does not resolve",
    () => stack.on("ingest", "network", "disconnect", stack.id),
    () => stack.on("ingest", "network", "connect", "--alias=ingest", `--alias=${sentryName}`, stack.id),
  ],
  [
    "ingest is down, spool is killed",
    async () => {
      await stack.ingest({ gone: true });
      await pause(milliseconds / 2);
      await stack.kill("spool");
    },
  ],
  [
    "proxy, or the app with the tunnel, restarts",
    () => Promise.all(tunnels.map((service) => stack.on(service, "restart"))),
  ],
  ["proxy, or the app with the tunnel, is killed", () => stack.kill(...tunnels)],
];

/** What pages in Chromium lose during a fault: through Culvert, the SDK's three tunnels, and Culvert with the package's queue. */
export async function faults({ faultSeconds }: Options): Promise<Comparison> {
  const folder = mkdtempSync(join(tmpdir(), "culvert-faults-"));
  chmodSync(folder, 0o755);
  makePair(join(folder, "server"), [sentryName]);
  const dsn = `https://key@${sentryName}/1`;
  const rivals = { next: "culvert-bench-next-tunnels", node: "culvert-bench-serve-tunnel" };
  const stack = await startStack({ SENTRY_DSN: dsn }, { proxy: [], tls: { cert: folder, name: sentryName }, rivals });
  const browser = await startBrowser();
  try {
    const culvert = { origin: `https://localhost:${await forward(stack.proxy)}`, tunnel: "/monitoring" };
    const next = `http://localhost:${await forward(stack.next)}`;
    const node = `http://localhost:${await forward(stack.node)}`;
    const sending = { dsn, intervalMs: INTERVAL_MS, queue: false };
    const senders: Sender[] = [
      { ...culvert, ...sending },
      { origin: next, tunnel: "/monitoring?o=1&p=1", ...sending },
      { origin: next, tunnel: "/tunnel-handler", ...sending },
      { origin: node, tunnel: "/monitoring", ...sending },
      { ...culvert, ...sending, queue: true },
    ];
    const rows: Comparison["rows"] = [];
    for (const [name, begin, end] of faultsOf(stack, faultSeconds * 1_000)) {
      for (const { origin } of senders.slice(1, -1)) await waitUntil(async () => (await fetch(`${origin}/healthz`)).ok);
      const open = await Promise.all(senders.map((sender) => browser.open(sender, PAGES)));
      await pause(3_000);
      await begin();
      await pause(faultSeconds * 1_000);
      await end?.();
      await stack.ingest();
      await pause(5_000);
      const ids = await Promise.all(open.map(({ stop }) => stop()));
      await waitUntil(() => isEmpty(stack), 60_000);
      const found = () =>
        Promise.all(ids.map(async (sent) => ({ sent: sent.length, ...(await outcome(stack, sent)) })));
      // The browser's queue retries at growing intervals.
      await waitUntil(async () => (await found()).at(-1)?.lost === 0, 120_000).catch(() => {});
      const results = await found();
      await Promise.all(open.map(({ close }) => close()));
      rows.push([name, ...results.map(({ lost, sent }) => `${lost} of ${sent}`)]);
      process.stderr.write(`    ${rows.at(-1)?.join(" | ")}\n`);
    }
    return {
      title: "Events lost when something fails",
      head: ["", "Culvert", "`tunnelRoute`", "handler", "`serveTunnelIntegration`", "with the package"],
      rows,
    };
  } finally {
    await browser.close();
    await stack.stop();
    rmSync(folder, { recursive: true });
  }
}
