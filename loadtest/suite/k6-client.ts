import { group, check as k6check } from "k6";
import exec from "k6/execution";
import http, { type Response as K6Response } from "k6/http";
import { CHECKS, type CheckId, shareOf } from "../lib/checks.ts";
import {
  type Client,
  isAnswer,
  type Kind,
  type OutagePhase,
  type Probe,
  type Request,
  type Response,
  Unavailable,
} from "../lib/client.ts";
import type { Options } from "../lib/options.ts";
import { pageTrace } from "../lib/page-trace.ts";
import { RecentIds } from "../lib/recent-ids.ts";
import { balanceOf } from "./balance.ts";
import { reportSent } from "./delivery.ts";
import { type Example, exampleName } from "./examples.ts";
import * as metrics from "./metrics.ts";
import { outagePhase } from "./outage.ts";
import { PAGES_DOWN, SLICES } from "./thresholds.ts";

/** Trace ids that one virtual user remembers. */
const MAX_RECENT_IDS = 5000;
/** https://grafana.com/docs/k6/latest/javascript-api/error-codes/ */
const REQUEST_TIMEOUT = 1050;

const USUAL = http.expectedStatuses({ min: 200, max: 399 });
/** Statuses that are no failed requests for k6, where they differ. */
const EXPECTED: Partial<Record<Kind, ReturnType<typeof http.expectedStatuses>>> = {
  "404": http.expectedStatuses(404, 308),
  rejected: http.expectedStatuses(200, 400, 403, 405),
  page: http.expectedStatuses({ min: 200, max: 399 }, 431),
};

/** What `setup` found before the run. */
export interface SetupData {
  probed: Record<string, Probe>;
  /** Tells this run's envelopes from those of other runs. */
  run: string;
}

/** Creates a client that sends its requests with k6, one for each virtual user. `plateau` is undefined outside the outage profile. */
export function k6Client(options: Options, { probed, run }: SetupData, plateau: number | undefined): Client {
  const recent = new RecentIds(MAX_RECENT_IDS);
  const failed = new Set<CheckId>();
  const unanswered = new Set<string>();
  const brokenAnswers = new WeakSet<Response>();
  const phase = () =>
    plateau === undefined ? undefined : outagePhase(exec.instance.currentTestRunDuration / 1000, plateau);

  return {
    options,
    probed,
    phase,
    async request(request) {
      setMetadata(request.traceId);
      const on = await send(options, request);
      if (request.headers?.["sentry-trace"] && request.traceId) metrics.tracesSent.add(1);
      // A new trace is known only now: too late for k6's own samples of this request, in time for the suite's.
      setMetadata(on.traceId, on.headers["x-request-id"]);
      record(request, on, phase());
      if (!isAnswer(on) && !isOutage(request.kind, phase())) passUnanswered(unanswered, request.kind, on);
      if (request.kind !== "envelope" && !isAnswer(on)) throw new Unavailable(`${on.at}: ${on.status} ${on.error}`);
      return on;
    },
    check(id, ok, on, example = "") {
      if (on) setMetadata(on.traceId, on.headers["x-request-id"]);
      k6check(null, { [CHECKS[id].name]: () => ok });
      metrics.rates[id].add(ok);
      metrics.samples.add(1, { of: id });
      if (ok) return;
      if (shareOf(id) === 1 && !(on && brokenAnswers.has(on))) metrics.broken.add(1);
      if (on) brokenAnswers.add(on);
      if (failed.has(id)) return;
      failed.add(id);
      passExample(id, on?.at ?? "", on?.traceId ?? "", example);
    },
    recordUpstream(on, answered) {
      metrics.availability.add(answered, { kind: "upstream" });
      if (!answered) passUnanswered(unanswered, "upstream", { ...on, error: "the app's own call was not answered" });
    },
    recordTraceId(traceId) {
      const { slot, step } = balanceOf(traceId);
      metrics.balance.add(step, { slot: String(slot) });
      const isNew = recent.add(traceId);
      if (isNew) metrics.tracesReceived.add(1);
      return isNew;
    },
    async recordSent(eventId, body, { traceId }) {
      if (options.ingest) await reportSent(options.ingest, { run, eventId, body, traceId });
    },
  };
}

/** Passes a failure to the summary. */
export function passExample(check: Example["check"], at: string, traceId: string, text: string): void {
  group(exampleName(exec.vu.idInTest, { check, at, traceId, text: text.replace(/\s+/g, " ") }), () => {});
}

/** Adds ids to the samples that follow, as metadata: as tags each would create a time series. */
function setMetadata(traceId?: string, requestId?: string): void {
  const { metadata } = exec.vu.metrics;
  for (const [name, id] of Object.entries({ trace_id: traceId, request_id: requestId })) {
    if (id) metadata[name] = id;
    else delete metadata[name];
  }
}

export async function send(options: Options, request: Request): Promise<Response> {
  const { method = "GET", path, kind, name = path, headers, body, traceId } = request;
  const tags = { name: kind === "page" ? name : `${kind}: ${name}`, kind };
  const params = {
    headers,
    redirects: 0,
    timeout: `${options.timeout}s`,
    tags,
    responseCallback: EXPECTED[kind] ?? USUAL,
  };
  const response = await http.asyncRequest(method, options.baseUrl + path, body ?? null, params);
  const text = typeof response.body === "string" ? response.body : "";
  const received = Object.entries(response.headers).map(([header, value]) => [header.toLowerCase(), value]);
  return {
    status: response.status,
    headers: Object.fromEntries(received),
    body: text,
    milliseconds: response.error_code === REQUEST_TIMEOUT ? options.timeout * 1000 : response.timings.duration,
    error: reason(response),
    at: `${method} ${path}`,
    traceId: traceId ?? pageTrace(text).trace?.traceId ?? "",
  };
}

/** Sends a request before the run, up to three times: a busy target is not a wrong one. */
export async function probe(options: Options, request: Request): Promise<Response> {
  let on = await send(options, request);
  for (let more = 2; more > 0 && (on.error === "timed out" || (on.status !== 0 && !isAnswer(on))); more--)
    on = await send(options, request);
  return on;
}

/** The most seconds that probing that many pages, one after the other, may take. */
export const probeSeconds = ({ timeout }: Options, requests: number): number => 30 + 3 * timeout * requests;

function reason({ error, error_code }: K6Response): string {
  return error_code === REQUEST_TIMEOUT ? "timed out" : error.replace(/^(Get|Post) "[^"]*": /, "");
}

/** Whether a request is an envelope while the ingest is down on purpose. */
const isOutage = (kind: Kind, phase?: OutagePhase) =>
  kind === "envelope" && (phase === "down" || phase === "transition");

/** Records availability and duration; not those of envelopes while the ingest is down on purpose. */
function record({ kind, path, name = path, untimed }: Request, on: Response, phase?: OutagePhase): void {
  if (isOutage(kind, phase)) return;
  const answered = isAnswer(on);
  const slice = String(Math.min(SLICES - 1, Math.floor(exec.scenario.progress * SLICES)));
  metrics.availability.add(answered, { kind });
  metrics.timelineAnswered.add(answered, { slice });
  const hasTimedOut = on.error === "timed out";
  if (hasTimedOut) metrics.timedOut.add(1, { kind, name });
  // A refused connection takes no time: counting it would make an outage look fast.
  if (untimed || (!answered && !hasTimedOut)) return;
  metrics.responseTime.add(on.milliseconds, { kind, name });
  metrics.samples.add(1, { of: kind === "page" ? name : kind });
  if (kind !== "page") return;
  metrics.timeline.add(on.milliseconds, { slice });
  if (phase === "down") metrics.samples.add(1, { of: PAGES_DOWN });
}

/** Passes the first unanswered request of each kind and reason. */
function passUnanswered(passed: Set<string>, kind: Kind, on: Response): void {
  const reason = on.error || `status ${on.status}`;
  const what = `${kind} ${reason.replace(/\d+/g, "")}`;
  if (passed.has(what)) return;
  passed.add(what);
  passExample("availability", on.at, on.traceId, reason);
}
