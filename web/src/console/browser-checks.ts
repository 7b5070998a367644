import { readPublicSettings } from "../telemetry/settings/public-settings";
import { type Check, look, UNKNOWN } from "./check";
import { tunnelProblem } from "./messages";
import { probeEnvelope } from "./probe-envelope";

export type BrowserChecks = { edge: Check; web: Check; tunnel: Check };

/** Looks at the hops that only a browser sees: to the proxy, through it to web, and through the tunnel. Never throws. */
export async function checkFromBrowser(): Promise<BrowserChecks> {
  return { edge: await best(checkEdge), web: await checkWeb(), tunnel: await checkTunnel() };
}

/** The best of a few: what a hop costs, without what the browser was busy with meanwhile. */
async function best(check: () => Promise<Check>): Promise<Check> {
  const checks = [await check(), await check(), await check()];
  const latency = ({ latencyMs = Number.POSITIVE_INFINITY }: Check) => latencyMs;
  return checks.find(({ state }) => state !== "good") ?? checks.reduce((a, b) => (latency(b) < latency(a) ? b : a));
}

/** A file of the build, which the proxy answers from its own store. */
async function checkEdge(): Promise<Check> {
  const file = document.querySelector<HTMLScriptElement>('script[src*="/_next/static/"]')?.src;
  if (!file) return UNKNOWN;
  const wordsFor = (status: number) =>
    status < 400 ? undefined : `The proxy answers ${status} for a file of this page.`;
  return look(
    () => ask(file, { method: "HEAD" }),
    wordsFor,
    () => "The proxy can't be reached from this browser.",
  );
}

async function checkWeb(): Promise<Check> {
  const wordsFor = (status: number) =>
    status < 300 ? undefined : `The proxy answers ${status}: no web replica is well (docker compose ps).`;
  return look(
    () => ask("/healthz"),
    wordsFor,
    () => "The proxy can't be reached from this browser.",
  );
}

async function checkTunnel(): Promise<Check> {
  const settings = readPublicSettings(document);
  if (!settings) return UNKNOWN;
  const { dsn, tunnelPath } = settings;
  return look(
    () => ask(tunnelPath, { method: "POST", body: probeEnvelope(dsn) }),
    (status) => tunnelProblem(status, tunnelPath),
    () => `This browser does not send to ${tunnelPath}: an ad-blocker, most likely. Another TUNNEL_PATH passes it.`,
  );
}

async function ask(address: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(address, { ...init, cache: "no-store", credentials: "omit" });
  // Read to its end, or the browser keeps the request open.
  await response.arrayBuffer();
  return response;
}
