import { journey, journeysFor } from "../journeys/index.ts";
import { CHECK_IDS, type CheckId } from "../lib/checks.ts";
import { type Env, OptionError, type Options, readOptions } from "../lib/options.ts";
import { KINDS, type Kind } from "../lib/request.ts";
import { type LoadProfile, PROFILES } from "./profiles.ts";

export interface Limit {
  p95?: number;
  p99?: number;
  /** Of the p95. */
  firstByte?: number;
}

/** A page, or all requests of another kind. */
export interface Row {
  name: string;
  selector: string;
  limit: Limit;
}

/** What a run does, and what it must have measured. */
export interface Plan {
  name: string;
  profile: LoadProfile;
  options: Options;
  availability: number;
  /** Percent of open connections that are reused; milliseconds to open one; how much slower the last quarter may be. */
  connection?: { reuse: number; connect: number; drift: number };
  rows: Row[];
  checks: CheckId[];
  kinds: Kind[];
}

const DEFAULT_TIMES: Record<string, Limit> = {
  page: { p95: 500, p99: 2000, firstByte: 300 },
  navigation: { p95: 500, p99: 2000 },
  action: { p95: 1000, p99: 3000 },
  redirect: { p95: 500, p99: 2000 },
  file: { p95: 250, p99: 1000 },
  echo: { p95: 250, p99: 1000 },
  envelope: { p95: 250, p99: 1000 },
  delivery: { p95: 10_000 },
};

/** Reads the plan of a profile's run from the environment. Throws an OptionError for anything that is invalid. */
export function readPlan(name: string, env: Env): Plan {
  const profile = PROFILES[name];
  if (!profile) throw new OptionError(`PROFILE "${name}" is not a profile: use ${Object.keys(PROFILES).join(", ")}`);
  const isSmoke = profile.stages.length === 0;
  const options = readOptions(isSmoke ? { ...env, TIMEOUT: env.TIMEOUT || "2m" } : env);
  // A busy machine is not a broken trace: smoke has no limits of time, except for what must not wait for minutes.
  const times = isSmoke ? { delivery: { p95: 20_000 } } : DEFAULT_TIMES;
  const { availability = 99, reuse = 50, connect = 1000, drift = 3, ...own } = readLimits(options.limits);
  const connection = isSmoke ? undefined : ({ reuse, connect, drift } as Plan["connection"]);
  const limits = { ...times, ...own } as Record<string, Limit>;
  const names = journeysFor(options);
  const checks = requiredChecks(options);
  const kinds = new Set<Kind>(names.flatMap((one) => journey(one).kinds ?? []));
  if (names.includes("browse") && options.navigation) kinds.add("navigation");
  const pages = new Set(names.some((one) => /browse|continued|assets/.test(one)) ? options.pages : []);
  if (names.includes("outgoing")) pages.add(options.tracePage);
  if (names.includes("action")) pages.add(options.actionPage);
  const others = [...kinds, ...(checks.includes("delivered") ? (["delivery"] as const) : [])];
  const row = (name: string, selector: string, limit: Limit = {}): Row => ({ name, selector, limit });
  const rows = [
    ...Array.from(pages, (page) => row(page, `{kind:page,name:${page}}`, limits[page] ?? limits.page)),
    ...others.filter((kind) => kind !== "rejected").map((kind) => row(kind, `{kind:${kind}}`, limits[kind])),
  ];
  return {
    ...{ name, profile, options, availability: Number(availability), connection },
    ...{ rows, checks, kinds: ["page", ...kinds] },
  };
}

function requiredChecks(options: Options): CheckId[] {
  const names = journeysFor(options);
  const required = new Set<CheckId>(["iteration_ok", ...names.flatMap((name) => journey(name).checks)]);
  const browses = names.includes("browse");
  if (browses && options.trace) required.add("fresh_valid").add("fresh_unique").add("same_settings").add("not_shared");
  if (browses && (options.expectRelease || options.expectEnvironment || options.serverTiming))
    required.add("same_settings");
  const pages = [...(browses ? options.pages : []), ...(names.includes("action") ? [options.actionPage] : [])];
  const isNonce = (one: string) =>
    pages.some((page) => one.replace(`${page}:`, "").startsWith("content-security-policy~nonce"));
  if (options.expectHeaders.some(isNonce)) required.add("page_nonce");
  if (browses && options.navigation) required.add("navigation_ok");
  if (names.includes("notFound") && options.noindex !== "off") required.add("not_found_noindex");
  if (options.browser && !options.noBrowser) required.add("browser_runs");
  if (options.ingest && names.some((name) => journey(name).envelopes))
    required.add("delivered").add("unaltered").add("delivered_once");
  return CHECK_IDS.filter((id) => required.has(id));
}

function readLimits(value: string): Record<string, unknown> {
  if (!value) return {};
  let given: Record<string, unknown>;
  try {
    given = JSON.parse(value);
  } catch {
    throw new OptionError(`LIMITS "${value}" is not JSON: give {"page":{"p95":400,"p99":1500}}`);
  }
  for (const [name, limit] of Object.entries(given)) {
    const names = ["availability", "reuse", "connect", "drift", ...KINDS];
    if (!names.includes(name) && !name.startsWith("/"))
      throw new OptionError(`LIMITS has "${name}": use ${names.join(", ")} or a path`);
    if (!/^(\d[\d.]*|\{("(p9[59]|firstByte)":\d[\d.]*,?)*\})$/.test(JSON.stringify(limit)))
      throw new OptionError(`LIMITS: ${name} is ${JSON.stringify(limit)}: give a number, or {"p95":400,"p99":1500}`);
  }
  return given;
}
