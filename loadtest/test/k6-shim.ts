import { randomBytes as bytes, createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { type Cheerio, load } from "cheerio";
import type { SetupData } from "../lib/client.ts";
import type { RunData } from "../suite/summary.ts";

// Replaces the parts of the modules `k6`, `k6/http`, `k6/execution` and `k6/metrics` that the suite uses (vitest.config.ts). It runs one
// virtual user at a time: `exec` is the current one.

type Tags = Record<string, string>;
type Kind = "Counter" | "Rate" | "Trend";

/** Every sample recorded, with its tags as an output would receive them. */
export const samples: { metric: string; value: number; tags: Tags }[] = [];
export const kinds = new Map<string, Kind>();

class Metric {
  constructor(readonly name: string) {
    kinds.set(name, new.target.name as Kind);
  }
  add(value: number | boolean, tags: Tags = {}): void {
    samples.push({ metric: this.name, value: Number(value), tags: { ...exec.vu.metrics.tags, ...tags } });
  }
}
export class Counter extends Metric {}
export class Rate extends Metric {}
export class Trend extends Metric {}

const built = { check: new Rate("checks"), request: new Counter("http_reqs"), waiting: new Trend("http_req_waiting") };
for (const name of ["http_req_connecting", "http_req_tls_handshaking"]) kinds.set(name, "Trend");
const iterations = new Counter("iterations");

class Aborted extends Error {}

const exec = {
  vu: { idInTest: 1, metrics: { tags: {} as Tags } },
  scenario: { iterationInTest: 0, progress: 0 },
  test: {
    abort(problem: string): never {
      throw new Aborted(problem);
    },
  },
};

export function check(_: unknown, checks: Record<string, () => boolean>): void {
  for (const [name, test] of Object.entries(checks)) built.check.add(test(), { check: name });
}

interface Params {
  headers?: Tags;
  compression?: string;
  tags: Tags;
  timeout: string;
}

/** The part of k6/html's Selection that the suite uses. */
class Selection {
  // biome-ignore lint/suspicious/noExplicitAny: any kind of node
  constructor(readonly nodes: Cheerio<any>) {}
  find = (selector: string) => new Selection(this.nodes.find(selector));
  toArray = () => Array.from(this.nodes, (_, at) => new Selection(this.nodes.eq(at)));
  attr = (name: string) => this.nodes.attr(name);
  text = () => this.nodes.text();
  serializeArray = () => this.nodes.serializeArray();
  html = () => this.nodes.html() ?? undefined;
}
export const parseHTML = (html: string) => new Selection(load(html).root());
/** k6's browser module is only type-checked. */
export const browser = {};

async function asyncRequest(method: string, url: string, plain: string | ArrayBuffer | null, params: Params) {
  built.request.add(1, params.tags);
  const begin = performance.now();
  const signal = AbortSignal.timeout(Number.parseInt(params.timeout, 10) * 1000);
  let isEncoded = false;
  const end = { status: 0, headers: {} as Tags, body: null as string | null, error: "", error_code: 0 };
  const isCompressed = params.compression === "gzip";
  const body = isCompressed ? new Uint8Array(gzipSync(plain as ArrayBuffer)) : plain;
  const headers = { ...params.headers, ...(isCompressed && { "content-encoding": "gzip" }) };
  try {
    const response = await fetch(url, { method, headers, body, redirect: "manual", signal });
    isEncoded = response.headers.has("content-encoding");
    // In Go's canonical form.
    const spelled = (name: string) => name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
    const received = Object.fromEntries([...response.headers].map(([name, value]) => [spelled(name), value]));
    Object.assign(end, { status: response.status, headers: received, body: await response.text() });
  } catch (problem) {
    const { name, cause = problem } = problem as Error;
    // https://grafana.com/docs/k6/latest/javascript-api/error-codes/: a body that is cut in gzip's header is undecodable.
    const error_code = isEncoded ? 1701 : name === "TimeoutError" ? 1050 : 1000;
    Object.assign(end, { error: String(cause), error_code });
  }
  const duration = performance.now() - begin;
  built.waiting.add(duration, params.tags);
  // A closed connection costs the next request.
  const connecting = end.headers.Connection === "close" ? 1 : 0;
  return { ...end, timings: { duration, connecting } };
}

const randomBytes = (size: number) => new Uint8Array(bytes(size)).buffer;
const sha256 = (data: ArrayBuffer, encoding: "hex") => createHash("sha256").update(Buffer.from(data)).digest(encoding);
export default { ...exec, asyncRequest, randomBytes, sha256, expectedStatuses: () => null };

interface Script<Data> {
  options: object;
  setup: () => Promise<Data>;
  iteration: (data: Data) => Promise<void> | void;
  teardown?: (data: Data) => Promise<void>;
  handleSummary: (data: never) => Record<string, string> | Promise<Record<string, string>>;
}

/** Runs a script as k6 does. What `setup` throws, it throws. */
export async function runScript<Data>(script: Script<Data>, count: () => number) {
  samples.length = 0;
  exec.vu.metrics.tags = {};
  const data = await script.setup();
  let problem = "";
  try {
    for (let at = 0; at === 0 || at < count(); at++) {
      Object.assign(exec.scenario, { iterationInTest: at, progress: at / (count() || 1) });
      exec.vu.metrics.tags = {};
      await script.iteration(data);
      iterations.add(1);
    }
  } catch (error) {
    if (!(error instanceof Aborted)) throw error;
    problem = error.message;
  }
  try {
    await script.teardown?.(data);
  } catch (error) {
    problem ||= String(error);
  }
  const { thresholds = {} } = script.options as { thresholds?: Parameters<typeof endOfTest>[0] };
  const end = endOfTest(thresholds, data as SetupData);
  return {
    files: await script.handleSummary(end as never),
    problem,
    code: problem ? 108 : end.crossed ? 99 : 0,
  };
}

// For k6.mjs, which imports a script, and with it this module.
Object.assign(globalThis, { runScript });

function endOfTest(
  thresholds: Record<string, { threshold: string }[]>,
  setup_data: SetupData,
): RunData & { crossed: boolean } {
  const names = new Set([...samples.map(({ metric }) => metric), ...Object.keys(thresholds)]);
  const metrics: RunData["metrics"] = {};
  let crossed = false;
  for (const name of names) {
    const [, metric = "", tags] = /^([^{]+)(?:\{(.*)\})?$/.exec(name) ?? [];
    const wanted = tags?.split(",").map((tag) => tag.split(":")) ?? [];
    const isMine = ({ tags }: { tags: Tags }) => wanted.every(([tag = "", is]) => tags[tag] === is);
    const mine = samples.filter((sample) => sample.metric === metric && isMine(sample)).map(({ value }) => value);
    const values = valuesOf(kinds.get(metric) ?? "Counter", mine);
    const judged = (thresholds[name] ?? []).map(
      ({ threshold }) => [threshold, { ok: holds(threshold, values) }] as const,
    );
    metrics[name] = { values, thresholds: Object.fromEntries(judged) };
    crossed ||= judged.some(([, { ok }]) => !ok);
  }
  return { metrics, state: { testRunDurationMs: 1000 }, setup_data, crossed };
}

function valuesOf(kind: Kind, values: number[]): Record<string, number> {
  const sum = values.reduce((total, value) => total + value, 0);
  if (kind === "Counter") return { count: sum, rate: sum };
  if (values.length === 0) return kind === "Trend" ? { max: 0, "p(95)": 0, "p(99)": 0 } : {};
  if (kind === "Rate") return { rate: sum / values.length, passes: sum, fails: values.length - sum };
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return { count: values.length, med: at(0.5), "p(95)": at(0.95), "p(99)": at(0.99), max: at(1) };
}

/** As in k6, a rate or trend without samples passes any threshold, a counter does not. */
function holds(threshold: string, values: Record<string, number>): boolean {
  const [, key = "", sign, limit] = /^([\w()]+)([<>]=?)(-?[\d.]+)$/.exec(threshold) ?? [];
  const value = values[key];
  if (sign === undefined) throw new Error(`this shim cannot parse the threshold ${threshold}`);
  if (value === undefined) return true;
  const to = Number(limit);
  return { "<": value < to, "<=": value <= to, ">": value > to, ">=": value >= to }[sign] as boolean;
}
