import { Counter, Gauge, Rate, Trend } from "k6/metrics";
import { CHECK_IDS, type CheckId } from "../lib/checks.ts";
import { traceMetrics } from "./examples.ts";
import { BALANCE, PAGE_TIME, SAMPLES, TUNNEL_TIME } from "./thresholds.ts";

// k6 requires metrics to be created while a script loads, so they are the only state outside a function.

export const rates = Object.fromEntries(CHECK_IDS.map((id) => [id, new Rate(id)])) as Record<CheckId, Rate>;
export const failedTraces = Object.fromEntries(
  CHECK_IDS.map((id) => [id, traceMetrics(id).map((name) => new Gauge(name))]),
) as Record<CheckId, Gauge[]>;
export const samples = new Counter(SAMPLES);
export const balance = new Counter(BALANCE);
export const pageTime = new Trend(PAGE_TIME, true);
export const tunnelTime = new Trend(TUNNEL_TIME, true);
export const tracesSent = new Counter("traces_sent");
export const tracesReceived = new Counter("traces_received");
