import { group, check as k6check } from "k6";
import exec from "k6/execution";
import http, { type Response } from "k6/http";
import type { Trend } from "k6/metrics";
import { balanceOf } from "./balance.ts";
import { CHECKS, type CheckId } from "./checks.ts";
import { exampleName, traceNumbers } from "./examples.ts";
import type { Knobs } from "./knobs.ts";
import { balance, failedTraces, pageTime, rates, samples, tracesGiven, tracesSent, tunnelTime } from "./metrics.ts";
import { pageTrace } from "./page-trace.ts";
import { outagePhase } from "./stages.ts";
import { PAGE_TIME, TUNNEL_TIME } from "./thresholds.ts";
import { RecentIds } from "./unique.ts";
import type { Answer, Ask, Visitor } from "./visitor.ts";

/** What one virtual user remembers of its earlier visitors. */
const REMEMBERED = 5000;

/** Makes the visitor that acts through k6; one for each virtual user. `plateau` is that of an outage, else undefined. */
export function k6Visitor(knobs: Knobs, known: ReadonlySet<string>, plateau: number | undefined): Visitor {
  const recent = new RecentIds(REMEMBERED);
  const told = new Set<CheckId>();
  const phase = () =>
    plateau === undefined ? undefined : outagePhase(exec.instance.currentTestRunDuration / 1000, plateau);

  return {
    knobs,
    known,
    phase,
    async ask(ask) {
      note(ask.traceId);
      const answer = await request(knobs, ask);
      if (ask.headers?.["sentry-trace"] && ask.traceId) tracesSent.add(1);
      // A newcomer's trace is known only now: too late for k6's own samples of this request, in time for ours.
      note(ask.traceId ?? pageTrace(answer.body).trace?.traceId, answer.headers["x-request-id"]);
      book(knobs, ask, answer, phase());
      return answer;
    },
    check(id, ok, example = "", traceId = "") {
      if (traceId) note(traceId);
      k6check(null, { [CHECKS[id].name]: () => ok });
      rates[id].add(ok);
      samples.add(1, { of: id });
      if (ok || told.has(id)) return;
      told.add(id);
      const { idInTest } = exec.vu;
      group(exampleName(id, idInTest, example), () => {});
      for (const [part, number] of traceNumbers(idInTest, traceId).entries()) failedTraces[id][part]?.add(number);
    },
    meet(traceId) {
      const { slot, step } = balanceOf(traceId);
      balance.add(step, { slot: String(slot) });
      const isNew = recent.add(traceId);
      if (isNew) tracesGiven.add(1);
      return isNew;
    },
  };
}

/** Leaves ids with the samples that follow, as metadata: as tags they would make a time series each. */
function note(traceId?: string, requestId?: string): void {
  const { metadata } = exec.vu.metrics;
  for (const [name, id] of Object.entries({ trace_id: traceId, request_id: requestId })) {
    if (id) metadata[name] = id;
    else delete metadata[name];
  }
}

async function request(knobs: Knobs, { method = "GET", path, name, headers, body }: Ask): Promise<Answer> {
  const params = { headers, redirects: 0, timeout: "30s", tags: { name } };
  const response = await http.asyncRequest(method, knobs.baseUrl + path, body ?? null, params);
  return {
    status: response.status,
    headers: lowerCase(response.headers),
    body: typeof response.body === "string" ? response.body : "",
    milliseconds: response.timings.duration,
    error: reason(response),
  };
}

function reason({ error }: Response): string {
  return error.replace(/^(Get|Post|Put) "[^"]*": /, "");
}

function lowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Books a page's time and a report's, apart from all else; reports to an ingest that is down on purpose do not count. */
function book(knobs: Knobs, ask: Ask, answer: Answer, phase: ReturnType<Visitor["phase"]>): void {
  if (ask.untimed) return;
  if (ask.path.replace(/\?.*/, "") === knobs.tunnelPath) {
    if (answer.status < 300 && phase !== "down" && phase !== "edge") time(tunnelTime, TUNNEL_TIME, ask, answer);
  } else if (/^text\/html/.test(answer.headers["content-type"] ?? "")) {
    time(pageTime, PAGE_TIME, ask, answer);
  }
}

function time(trend: Trend, of: string, { name }: Ask, { milliseconds }: Answer): void {
  trend.add(milliseconds, { name });
  samples.add(1, { of });
}
