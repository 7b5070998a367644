import { Counter, Rate, Trend } from "k6/metrics";
import { CHECK_IDS, type CheckId } from "../lib/checks.ts";
import * as names from "./thresholds.ts";

// k6 requires metrics to be created while a script loads, so they are the only state outside a function.

export const rates = Object.fromEntries(CHECK_IDS.map((id) => [id, new Rate(id)])) as Record<CheckId, Rate>;
export const samples = new Counter(names.SAMPLES);
export const balance = new Counter(names.BALANCE);
export const responseTime = new Trend(names.TIME, true);
export const timedOut = new Counter(names.TIMED_OUT);
export const availability = new Rate(names.AVAILABILITY);
export const broken = new Counter(names.BROKEN);
export const timeline = new Trend(names.TIMELINE, true);
export const timelineAnswered = new Rate(names.TIMELINE_ANSWERED);
export const tracesSent = new Counter("traces_sent");
export const tracesReceived = new Counter("traces_received");
