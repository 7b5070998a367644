import { journey, journeysFor } from "../journeys/index.ts";
import { CHECK_IDS, type CheckId } from "../lib/checks.ts";
import { OptionError, type Options, readOptions } from "../lib/options.ts";
import { KINDS, type Kind } from "../lib/request.ts";
import { type LoadProfile, PROFILES } from "./profiles.ts";

/** Limits of one row of durations, in milliseconds. */
export interface Limit {
  p95?: number;
  p99?: number;
}

/** One row of the durations: a page, or all requests of another kind. */
export interface Row {
  name: string;
  /** The tags that select its samples. */
  selector: string;
  limit: Limit;
  /** The p95 of the baseline, and the one above which it is a regression. */
  former?: { p95: number; max: number };
}

/** What a run does, what it is compared with, and what it must have measured. */
export interface Plan {
  name: string;
  profile: LoadProfile;
  options: Options;
  limits: Limits;
  baseline?: { time: string; commit: string };
  rows: Row[];
  checks: CheckId[];
  kinds: Kind[];
}

/** The version of summary.json; a baseline of another one cannot be compared. */
export const SCHEMA = 4;
/** A baseline's p95 of fewer samples is left out. */
const MIN_SAMPLES = 20;

const DEFAULT_LIMITS = {
  /** Percent of requests that must be answered, of each kind. */
  availability: 99,
  /** Percent by which a p95 may be worse than the baseline's, and a difference in milliseconds that is never a regression. */
  noise: 30,
  noiseMs: 25,
};
export type Limits = typeof DEFAULT_LIMITS & Record<string, unknown>;
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

/** Reads the plan of a profile's run from the environment. Throws an OptionError for anything that is invalid. */
export function readPlan(name: string, env: Record<string, string | undefined>): Plan {
  const profile = PROFILES[name];
  if (!profile) throw new OptionError(`PROFILE "${name}" is not a profile: use ${Object.keys(PROFILES).join(", ")}`);
  const isSmoke = profile.stages.length === 0;
  // Also a timeout is a limit of time.
  const options = readOptions(isSmoke ? { ...env, TIMEOUT: env.TIMEOUT || "2m" } : env);
  // A busy machine is not a broken trace: smoke has no limits of time by default, except for what must not wait for minutes.
  const times = isSmoke ? { delivery: { p95: 20_000 } } : DEFAULT_TIMES;
  const limits: Limits = { ...DEFAULT_LIMITS, ...times, ...readLimits(options.limits) };
  const baseline = readBaseline(name, options.baseline);
  const names = journeysFor(options);
  const checks = requiredChecks(options);
  const kinds = new Set<Kind>(names.flatMap((one) => journey(one).kinds ?? []));
  if (names.includes("browse") && options.navigation) kinds.add("navigation");
  const pages = new Set(
    ["browse", "continued", "assets"].some((one) => names.includes(one as never)) ? options.pages : [],
  );
  if (names.includes("outgoing")) pages.add(options.tracePage);
  if (names.includes("action")) pages.add(options.actionPage);
  const limitOf = (of: string, kind: string) => (limits[of] ?? limits[kind] ?? {}) as Limit;
  const rows = [
    ...[...pages].map((page) => ({ name: page, selector: `{kind:page,name:${page}}`, limit: limitOf(page, "page") })),
    ...[...kinds, ...(checks.includes("delivered") ? (["delivery"] as const) : [])]
      .filter((kind) => kind !== "rejected")
      .map((kind) => ({ name: kind, selector: `{kind:${kind}}`, limit: limitOf(kind, kind) })),
  ].map((row) => {
    const p95 = baseline?.p95[row.name];
    const max = p95 && Math.ceil(Math.max(p95 * (1 + limits.noise / 100), p95 + limits.noiseMs));
    return { ...row, former: p95 && max ? { p95, max } : undefined };
  });
  return {
    ...{ name, profile, options, limits, baseline, rows, checks },
    kinds: ["page", ...kinds],
  };
}

/** The checks that must have samples by the end of a run. */
function requiredChecks(options: Options): CheckId[] {
  const names = journeysFor(options);
  const required = new Set<CheckId>(["iteration_ok", ...names.flatMap((name) => journey(name).checks)]);
  if (names.includes("browse") && options.trace) required.add("fresh_valid").add("fresh_unique").add("fresh_same");
  if (names.includes("browse") && options.navigation) required.add("navigation_ok");
  if (names.includes("notFound") && options.noindex !== "off") required.add("not_found_noindex");
  if (!options.noBrowser) required.add("browser_runs");
  if (options.ingest && names.some((name) => journey(name).envelopes))
    required.add("delivered").add("unaltered").add("delivered_once");
  return CHECK_IDS.filter((id) => required.has(id));
}

/** The JSON in a file, relative to loadtest/, or the value itself. */
function readJson(option: string, value: string): Record<string, unknown> {
  try {
    const json = JSON.parse(
      value.startsWith("{") ? value : open(import.meta.resolve(value.startsWith("/") ? value : `../${value}`)),
    );
    if (typeof json === "object" && json !== null && !Array.isArray(json)) return json;
  } catch {
    // One message for a missing file and for invalid JSON.
  }
  throw new OptionError(`${option} "${value}" is not a JSON object: give a file below loadtest/, or {…}`);
}

function readLimits(value: string): Record<string, unknown> {
  const given = value ? readJson("LIMITS", value) : {};
  for (const [name, limit] of Object.entries(given)) {
    if (!(name in DEFAULT_LIMITS) && !name.startsWith("/") && !KINDS.some((kind) => kind === name))
      throw new OptionError(
        `LIMITS has "${name}": use ${[...Object.keys(DEFAULT_LIMITS), ...KINDS].join(", ")} or a path`,
      );
    const numbers = name in DEFAULT_LIMITS ? [["", limit]] : Object.entries(limit ?? {});
    for (const [key, number] of numbers)
      if (!["", "p95", "p99"].includes(`${key}`) || typeof number !== "number" || number < 0)
        throw new OptionError(`LIMITS: ${name} is ${JSON.stringify(limit)}: give a number, or {"p95":400,"p99":1500}`);
  }
  return given;
}

/** Reads a former summary.json, which must be of the same profile: the load of another one differs. */
function readBaseline(name: string, value: string) {
  if (!value) return undefined;
  const { schema, profile, time, commit, durations } = readJson("BASELINE", value);
  if (schema !== SCHEMA || profile !== name || !Array.isArray(durations))
    throw new OptionError(`BASELINE "${value}" is not a summary.json of PROFILE ${name} with schema ${SCHEMA}`);
  const known = durations.filter(({ count }) => count >= MIN_SAMPLES).map((row) => [row.name, row.p95]);
  return { time: `${time}`, commit: `${commit}`, p95: Object.fromEntries(known) as Record<string, number> };
}
