import { getClient } from "@sentry/nextjs";
import { type Check, runCheck, UNKNOWN } from "./check";
import { tunnelProblem } from "./messages";
import { probeEnvelope } from "./probe-envelope";

export type BrowserChecks = { proxy: Check; web: Check; tunnel: Check };

/** Checks the hops that only a browser can check: to the proxy, through it to web, and through the tunnel. Never throws. */
export async function checkFromBrowser(): Promise<BrowserChecks> {
  const proxy = await fastest(checkProxy);
  if (proxy.unreachable) return { proxy, web: UNKNOWN, tunnel: UNKNOWN };
  return { proxy, web: await checkWeb(), tunnel: await checkTunnel() };
}

/** Runs a check three times and returns a failure, or else the fastest, which is the least affected by other work of the browser. */
async function fastest(check: () => Promise<Check>): Promise<Check> {
  const checks = [await check(), await check(), await check()];
  const latency = ({ latencyMs = Number.POSITIVE_INFINITY }: Check) => latencyMs;
  return checks.find(({ state }) => state !== "good") ?? checks.reduce((a, b) => (latency(b) < latency(a) ? b : a));
}

const unreachable = () => "The proxy cannot be reached from this browser.";

/** Requests a file of the build, which the proxy serves from its own store. */
async function checkProxy(): Promise<Check> {
  const file = document.querySelector<HTMLScriptElement>('script[src*="/_next/static/"]')?.src;
  if (!file) return UNKNOWN;
  const problemOf = (status: number) =>
    status < 400 ? undefined : `The proxy responds with ${status} for a file of this page.`;
  return runCheck(() => call(file, { method: "HEAD" }), problemOf, unreachable);
}

async function checkWeb(): Promise<Check> {
  const problemOf = (status: number) =>
    status < 300 ? undefined : `The proxy responds with ${status}: no web replica is healthy (docker compose ps).`;
  return runCheck(() => call("/healthz"), problemOf, unreachable);
}

async function checkTunnel(): Promise<Check> {
  const { dsn, tunnel: tunnelPath } = getClient()?.getOptions() ?? {};
  if (!dsn || !tunnelPath) return UNKNOWN;
  return runCheck(
    () => call(tunnelPath, { method: "POST", body: probeEnvelope(dsn) }),
    (status) => tunnelProblem(status, tunnelPath),
    () => `This browser cannot send to ${tunnelPath}: an ad-blocker is the likely cause. Choose another TUNNEL_PATH.`,
  );
}

async function call(address: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(address, { ...init, cache: "no-store", credentials: "omit" });
  // Without reading the body, the browser would keep the request open.
  await response.arrayBuffer();
  return response;
}
