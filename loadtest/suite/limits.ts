import { KINDS, type Kind } from "../lib/client.ts";
import { OptionError, type Options } from "../lib/options.ts";
import type { ProfileName } from "./profiles.ts";

/** Limits of one row of durations, in milliseconds. */
export interface Limit {
  p95?: number;
  p99?: number;
}

export interface Limits {
  /** Percent of requests that must be answered, of each kind. */
  availability: number;
  /** Percent by which a figure may be worse than the baseline's, and a difference in milliseconds that is never a regression. */
  noise: number;
  noiseMs: number;
  /** By kind of request, or by path for one page. */
  times: Record<string, Limit>;
}

const DEFAULTS: Limits = {
  availability: 99,
  noise: 30,
  noiseMs: 25,
  times: {
    page: { p95: 500, p99: 2000 },
    navigation: { p95: 500, p99: 2000 },
    action: { p95: 1000, p99: 3000 },
    redirect: { p95: 500, p99: 2000 },
    file: { p95: 250, p99: 1000 },
    echo: { p95: 250, p99: 1000 },
    envelope: { p95: 250, p99: 1000 },
  },
};

/** The file that a setting names, relative to loadtest/, or the JSON that it is. Throws an OptionError if it is neither. */
export function readJson(option: string, value: string): Record<string, unknown> {
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

/**
 * The limits of a run: the defaults, changed by LIMITS. Smoke has no limits of time by default, because a busy machine is not a broken
 * trace. Throws an OptionError for an unknown name or a value that is not a number.
 */
export function readLimits(profile: ProfileName, options: Options): Limits {
  const given = options.limits ? readJson("LIMITS", options.limits) : {};
  const limits: Limits = { ...DEFAULTS, times: profile === "smoke" ? {} : { ...DEFAULTS.times } };
  for (const [name, value] of Object.entries(given)) {
    if (name === "availability" || name === "noise" || name === "noiseMs") limits[name] = positive(name, value);
    else if (name.startsWith("/") || KINDS.includes(name as Kind)) limits.times[name] = readLimit(name, value);
    else
      throw new OptionError(
        `LIMITS has "${name}": use availability, noise, noiseMs, a page's path, ${KINDS.join(", ")}`,
      );
  }
  return limits;
}

function readLimit(name: string, value: unknown): Limit {
  const entries = Object.entries(value ?? {}).map(([key, number]) => {
    if (key !== "p95" && key !== "p99") throw new OptionError(`LIMITS of "${name}" has "${key}": use p95 and p99`);
    return [key, positive(`${name} ${key}`, number)];
  });
  return Object.fromEntries(entries);
}

function positive(name: string, value: unknown): number {
  if (typeof value === "number" && value >= 0) return value;
  throw new OptionError(`LIMITS: ${name} is ${JSON.stringify(value)}: give a number`);
}

/** One row of the durations: a page, or all requests of another kind. */
export interface Row {
  /** A page's path, or the kind. */
  name: string;
  /** The tags that select its samples. */
  selector: string;
  limit: Limit;
}

/** The limits of a row: a page's own, else those of its kind. */
export function rowOf(kind: Kind, name: string, { times }: Limits): Row {
  const selector = kind === "page" ? `{kind:page,name:${name}}` : `{kind:${kind}}`;
  return { name: kind === "page" ? name : kind, selector, limit: times[name] ?? times[kind] ?? {} };
}
