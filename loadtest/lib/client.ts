import { check as k6check } from "k6";
import exec from "k6/execution";
import http from "k6/http";
import { Counter, Rate, Trend } from "k6/metrics";
import { browserHeaders } from "./browser-headers.ts";
import type { CheckId } from "./checks.ts";
import { reportSent, type Sent } from "./delivery.ts";
import { type Failure, sayFailure } from "./failures.ts";
import type { Options } from "./options.ts";
import { isAnswer, type Kind, type Request, type Response, Unavailable } from "./request.ts";
import { pageTrace } from "./trace.ts";

/** The results of each check: a rate without samples passes any threshold. */
export const SAMPLES = "check_samples";
/** Time to the last byte, or to a timeout. */
export const TIME = "response_time";
export const AVAILABILITY = "availability";
/** Whether a request used the connection of the one before it in its iteration. */
export const REUSE = "connection_reuse";
export const STOPS = "reader_failures";

// k6 requires metrics to be created while a script loads.
const samples = new Counter(SAMPLES);
const responseTime = new Trend(TIME, true);
const availability = new Rate(AVAILABILITY);
const stops = new Counter(STOPS);
const reuse = new Rate(REUSE);

/** https://grafana.com/docs/k6/latest/javascript-api/error-codes/ */
const [REQUEST_TIMEOUT, UNDECODABLE] = [1050, 1701];
/** What k6 does not count as failed: checks judge the rest. */
const EXPECTED = http.expectedStatuses({ min: 200, max: 428 }, 431);

/** What `setup` saw of a page. */
export interface Probe {
  /** Trace, span, nonce and sessions, which a cached page returns again. */
  ids: string[];
  /** In characters. */
  length: number;
  hash: string;
  headers: Record<string, string>;
  settings: Record<string, string>;
  /** Whether its component payload has its EXPECT_TEXT. */
  textInPayload: boolean;
}

export interface SetupData {
  probed: Record<string, Probe>;
  run: string;
  /** Why nothing runs. */
  problem?: string;
}

export function newClient(options: Options, { probed, run }: SetupData) {
  const ids = new Set<string>();
  const visits = new Map<string, number>();
  const said = new Map<string, Promise<void>>();
  const say = (
    check: Failure["check"],
    what: string,
    { at, traceId }: Pick<Response, "at" | "traceId">,
    text: string,
  ) => {
    if (said.has(check + what)) return;
    said.set(check + what, sayFailure(options.reader, run, { check, at, traceId, text }));
  };
  const unanswered = (kind: Kind, on: Response, reason: string) =>
    say("availability", kind + reason.replace(/\d+/g, ""), on, reason);
  return {
    options,
    probed,
    /** Set by the suite: the number of this iteration, and of its round of all journeys. */
    visit: 0,
    round: 0,
    isLoad: false,
    /** In this iteration. */
    hasConnection: false,
    /** A page for this round, or one `more` further: the rounds cover all. */
    page(pages = options.pages, more = 0): string {
      return pages[(this.round + more) % pages.length] ?? "/";
    },
    /** Sends a request, and follows no redirect. Throws Unavailable without an answer, except for an envelope. */
    async request(request: Request): Promise<Response> {
      const wasConnected = this.hasConnection;
      const on = await send(options, request);
      record(request, on);
      this.hasConnection ||= isAnswer(on);
      // Concurrent requests over HTTP/1.1 need more connections, and a rejected body may close one.
      if (wasConnected && isAnswer(on) && !request.untimed && !/file|rejected/.test(request.kind))
        reuse.add(on.isReused);
      if (!isAnswer(on)) unanswered(request.kind, on, on.error || `status ${on.status}`);
      if (request.kind !== "envelope" && !isAnswer(on)) throw new Unavailable(`${on.at}: ${on.status} ${on.error}`);
      return on;
    },
    /** Records one result of a check. Of each user, the first failure is said. */
    check(id: CheckId, ok: boolean, on: Response | undefined, example: string): void {
      recordCheck(id, ok);
      if (!ok) say(id, "", on ?? { at: "", traceId: "" }, example);
    },
    warn: (on: Response, text: string): void => say("warning", text, on, text),
    allSaid: async (): Promise<void> => void (await Promise.all(said.values())),
    /** The app's own API did not answer, so its trace is not judged. */
    upstreamFailed: (on: Response): void => unanswered("page", on, "the app's own call was not answered"),
    /** Whether this virtual user sees an id for the first time. */
    isNew: (id: string): boolean => ids.size !== ids.add(id).size,
    /** Whether no earlier iteration of this user had a session. */
    isOwn(session: string): boolean {
      const before = visits.get(session) ?? this.visit;
      visits.set(session, before);
      return before === this.visit;
    },
    async recordSent(sent: Omit<Sent, "run">): Promise<void> {
      if (options.ingest) await reportSent(options.ingest, { ...sent, run });
    },
  };
}

export function recordCheck(id: CheckId, ok: boolean): void {
  k6check(null, { [id]: () => ok });
  samples.add(1, { check: id });
}

export const recordStop = (): void => stops.add(1);

export const recordDelivery = (milliseconds: number): void =>
  responseTime.add(milliseconds, { kind: "delivery", name: "delivery" });

async function send(options: Options, request: Request): Promise<Response> {
  const { method = "GET", path, kind, name = path, body, compressed, traceId } = request;
  const tags = { name: kind === "page" ? name : `${kind}: ${name}`, kind };
  const origin: Record<string, string> = method === "POST" ? { origin: options.baseUrl } : {};
  const headers = { ...browserHeaders(request), ...origin, ...request.headers };
  const params = {
    headers,
    compression: compressed ? "gzip" : "",
    redirects: 0,
    timeout: `${options.timeout}s`,
    tags,
    responseCallback: EXPECTED,
  };
  const response = await http.asyncRequest(method, options.baseUrl + path, body ?? null, params);
  const isUndecodable = response.error_code === UNDECODABLE;
  // A compressed body that is cut in its first bytes cannot be decompressed, either.
  const isCut = isUndecodable && /EOF|reset|closed/.test(response.error);
  const isLate = isUndecodable && /deadline|timeout/.test(response.error);
  const timedOut = isLate || response.error_code === REQUEST_TIMEOUT;
  const text = typeof response.body === "string" ? response.body : "";
  const received = Object.fromEntries(
    Object.entries(response.headers).map(([header, value]) => [header.toLowerCase(), value]),
  );
  return {
    status: response.status,
    headers: received,
    body: text,
    milliseconds: timedOut ? options.timeout * 1000 : response.timings.duration,
    isReused: response.timings.connecting === 0,
    error: timedOut ? "timed out" : response.error.replace(/^(Get|Post) "[^"]*": /, ""),
    undecodable: isUndecodable && !isCut && !isLate,
    at: `${method} ${path}`,
    traceId: traceId ?? pageTrace({ headers: received, body: text }).trace?.traceId ?? "",
  };
}

/** Sends a request before the run, up to three times if the target is busy. */
export async function probe(options: Options, request: Request): Promise<Response> {
  let on = await send(options, request);
  for (let more = 2; more > 0 && (on.error === "timed out" || (on.status !== 0 && !isAnswer(on))); more--)
    on = await send(options, request);
  return on;
}

function record({ kind, path, name = path, untimed }: Request, on: Response): void {
  availability.add(isAnswer(on), { kind });
  // A refused connection takes no time: counting it would make an outage look fast.
  if (untimed || (!isAnswer(on) && on.error !== "timed out")) return;
  const { progress } = exec.scenario;
  const quarter = progress < 0.25 ? "first" : progress >= 0.75 ? "last" : "middle";
  responseTime.add(on.milliseconds, { kind, name, quarter });
}

export type Client = ReturnType<typeof newClient>;

export type Journey = (client: Client) => Promise<void>;
