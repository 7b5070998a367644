import { journey, journeysFor, sendsEnvelopes } from "../journeys/index.ts";
import { CHECK_IDS, type CheckId } from "../lib/checks.ts";
import { type Env, OptionError, type Options, readOptions } from "../lib/options.ts";
import { KINDS, type Kind } from "../lib/request.ts";
import { type LoadProfile, PROFILES } from "./profiles.ts";

/** Milliseconds. */
export interface Limit {
  p95?: number;
  p99?: number;
  /** The p95 of the first byte, and of opening a connection. */
  firstByte?: number;
  connect?: number;
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
  /** In percent. */
  availability: number;
  reuse: number;
  /** How many times as slow pages may become. */
  drift: number;
  rows: Row[];
  checks: CheckId[];
  kinds: Kind[];
}

const DEFAULT_TIMES: Record<string, Limit> = {
  page: { p95: 500, p99: 2000 },
  navigation: { p95: 500, p99: 2000 },
  action: { p95: 1000, p99: 3000 },
  redirect: { p95: 500, p99: 2000 },
  file: { p95: 250, p99: 1000 },
  echo: { p95: 250, p99: 1000 },
  envelope: { p95: 250, p99: 1000 },
  delivery: { p95: 10_000 },
};

/** Reads the plan of a profile's run. Throws an OptionError. */
export function readPlan(name: string, env: Env): Plan {
  const profile = PROFILES[name];
  if (!profile) throw new OptionError(`PROFILE "${name}" is not a profile: use ${Object.keys(PROFILES).join(", ")}`);
  const isSmoke = profile.stages.length === 0;
  const options = readOptions(isSmoke ? { ...env, TIMEOUT: env.TIMEOUT || "2m" } : env);
  // Smoke finds wrong answers, also on a busy machine.
  const defaults = isSmoke
    ? { availability: 99, reuse: 0, drift: Number.POSITIVE_INFINITY, delivery: { p95: 20_000 } }
    : { availability: 99, reuse: 50, drift: profile.stopAtLimit ? Number.POSITIVE_INFINITY : 3, ...DEFAULT_TIMES };
  const { availability, reuse, drift, ...limits } = { ...defaults, ...readLimits(options.limits) };
  const names = journeysFor(options);
  const checks = requiredChecks(options);
  const kinds = new Set<Kind>(names.flatMap((name) => journey(name).kinds ?? []));
  if (names.includes("browse") && options.navigation) kinds.add("navigation");
  const pages = new Set(names.some((name) => /browse|continued|assets/.test(name)) ? options.pages : []);
  if (names.includes("outgoing")) pages.add(options.tracePage);
  if (names.includes("action")) pages.add(options.actionPage);
  const others = [...kinds, ...(checks.includes("delivered") ? (["delivery"] as const) : [])];
  const times = limits as Record<string, Limit>;
  const row = (name: string, selector: string, limit?: Limit): Row => {
    const hasConnection = !isSmoke && name !== "delivery";
    return { name, selector, limit: { ...limit, ...(hasConnection && { connect: limit?.connect ?? 3000 }) } };
  };
  const rows = [
    ...Array.from(pages, (page) => row(page, `{kind:page,name:${page}}`, times[page] ?? times.page)),
    ...others.filter((kind) => kind !== "rejected").map((kind) => row(kind, `{kind:${kind}}`, times[kind])),
  ];
  return { name, profile, options, availability, reuse, drift, rows, checks, kinds: ["page", ...kinds] };
}

function requiredChecks(options: Options): CheckId[] {
  const names = journeysFor(options);
  const required = new Set<CheckId>(["iteration_ok", ...names.flatMap((name) => journey(name).checks)]);
  const browses = names.includes("browse");
  if (browses && options.trace) required.add("fresh_valid").add("fresh_unique").add("same_settings").add("not_shared");
  if (browses && (options.expectRelease || options.expectEnvironment || options.serverTiming))
    required.add("same_settings");
  if (browses && options.navigation) required.add("navigation_ok");
  if (names.includes("notFound") && options.noindex !== "off") required.add("not_found_noindex");
  if (options.browser && !options.noBrowser) required.add("browser_runs");
  if (options.ingest && names.some(sendsEnvelopes)) required.add("delivered").add("unaltered").add("delivered_once");
  return CHECK_IDS.filter((id) => required.has(id));
}

function readLimits(value: string): Record<string, unknown> {
  if (!value) return {};
  let given: Record<string, unknown>;
  try {
    given = JSON.parse(value);
  } catch {
    throw new OptionError(`LIMITS "${value}" is not JSON: give {"page":{"p95":400}}`);
  }
  for (const [name, limit] of Object.entries(given)) {
    const names = ["availability", "reuse", "drift", ...KINDS];
    if (!names.includes(name) && !name.startsWith("/"))
      throw new OptionError(`LIMITS has "${name}": use ${names.join(", ")} or a path`);
    if (!/^(\d[\d.]*|\{("(p9[59]|firstByte|connect)":\d[\d.]*,?)*\})$/.test(JSON.stringify(limit)))
      throw new OptionError(`LIMITS: ${name} is ${JSON.stringify(limit)}: give a number, or {"p95":400}`);
  }
  return given;
}
