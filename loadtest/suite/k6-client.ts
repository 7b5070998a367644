import { group, check as k6check } from "k6";
import exec from "k6/execution";
import http, { type Response as K6Response } from "k6/http";
import type { Trend } from "k6/metrics";
import { CHECKS, type CheckId } from "../lib/checks.ts";
import type { Client, OutagePhase, Request, Response } from "../lib/client.ts";
import type { Options } from "../lib/options.ts";
import { pageTrace } from "../lib/page-trace.ts";
import { RecentIds } from "../lib/recent-ids.ts";
import { balanceOf } from "./balance.ts";
import { exampleName, traceNumbers } from "./examples.ts";
import { balance, failedTraces, pageTime, rates, samples, tracesReceived, tracesSent, tunnelTime } from "./metrics.ts";
import { outagePhase } from "./outage.ts";
import { PAGE_TIME, TUNNEL_TIME } from "./thresholds.ts";

/** Trace ids that one virtual user remembers. */
const MAX_RECENT_IDS = 5000;

/** Creates a client that sends its requests with k6, one for each virtual user. `plateau` is undefined outside the outage profile. */
export function k6Client(options: Options, probedTraceIds: ReadonlySet<string>, plateau: number | undefined): Client {
  const recent = new RecentIds(MAX_RECENT_IDS);
  const failed = new Set<CheckId>();
  const phase = () =>
    plateau === undefined ? undefined : outagePhase(exec.instance.currentTestRunDuration / 1000, plateau);

  return {
    options,
    probedTraceIds,
    phase,
    async request(request) {
      setMetadata(request.traceId);
      const response = await send(options, request);
      if (request.headers?.["sentry-trace"] && request.traceId) tracesSent.add(1);
      // A new trace is known only now: too late for k6's own samples of this request, in time for the suite's.
      setMetadata(request.traceId ?? pageTrace(response.body).trace?.traceId, response.headers["x-request-id"]);
      recordTime(options, request, response, phase());
      return response;
    },
    check(id, ok, example = "", traceId = "") {
      if (traceId) setMetadata(traceId);
      k6check(null, { [CHECKS[id].name]: () => ok });
      rates[id].add(ok);
      samples.add(1, { of: id });
      if (ok || failed.has(id)) return;
      failed.add(id);
      const { idInTest } = exec.vu;
      group(exampleName(id, idInTest, example), () => {});
      for (const [part, number] of traceNumbers(idInTest, traceId).entries()) failedTraces[id][part]?.add(number);
    },
    recordTraceId(traceId) {
      const { slot, step } = balanceOf(traceId);
      balance.add(step, { slot: String(slot) });
      const isNew = recent.add(traceId);
      if (isNew) tracesReceived.add(1);
      return isNew;
    },
  };
}

/** Adds ids to the samples that follow, as metadata: as tags each would create a time series. */
function setMetadata(traceId?: string, requestId?: string): void {
  const { metadata } = exec.vu.metrics;
  for (const [name, id] of Object.entries({ trace_id: traceId, request_id: requestId })) {
    if (id) metadata[name] = id;
    else delete metadata[name];
  }
}

async function send(options: Options, { method = "GET", path, name, headers, body }: Request): Promise<Response> {
  const params = { headers, redirects: 0, timeout: "30s", tags: { name } };
  const response = await http.asyncRequest(method, options.baseUrl + path, body ?? null, params);
  return {
    status: response.status,
    headers: lowerCase(response.headers),
    body: typeof response.body === "string" ? response.body : "",
    milliseconds: response.timings.duration,
    error: reason(response),
  };
}

function reason({ error }: K6Response): string {
  return error.replace(/^(Get|Post|Put) "[^"]*": /, "");
}

function lowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Records the duration of a page or envelope; not of envelopes while the ingest is down on purpose. */
function recordTime(options: Options, request: Request, response: Response, phase: OutagePhase | undefined): void {
  if (request.untimed) return;
  if (request.path.replace(/\?.*/, "") === options.tunnelPath) {
    const ingestUp = phase !== "down" && phase !== "transition";
    if (response.status < 300 && ingestUp) addTime(tunnelTime, TUNNEL_TIME, request, response);
  } else if (/^text\/html/.test(response.headers["content-type"] ?? "")) {
    addTime(pageTime, PAGE_TIME, request, response);
  }
}

function addTime(trend: Trend, of: string, { name }: Request, { milliseconds }: Response): void {
  trend.add(milliseconds, { name });
  samples.add(1, { of });
}
