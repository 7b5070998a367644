import { parseBaggage } from "./baggage.ts";
import type { Client } from "./client.ts";
import { serverTimings } from "./html.ts";
import type { Response } from "./request.ts";
import type { PageTrace } from "./trace.ts";

type Settings = Record<string, string>;

/** What an app with @culvert/nextjs says of itself: web/telemetry/settings/browser-settings.ts */
export function ownSettings(on: Response): Settings {
  const [settings = ""] = serverTimings(on, "culvert");
  const decoded = (text = "") => decodeURIComponent(text.replaceAll("+", " "));
  return Object.fromEntries(settings.split("&").map((pair) => pair.split("=").map(decoded)));
}

/** What all fresh pages of a deployment have in common. */
export function settingsOf(on: Response, { baggage, trace }: PageTrace): Settings {
  const traced = Object.entries(parseBaggage(baggage) ?? {}).map(([key, value]) => [key.replace("sentry-", ""), value]);
  const isCommon = ([key = ""]: string[]) => /^(release|environment|public_key|sample_rate|org_id)$/.test(key);
  const pairs = Object.entries(ownSettings(on)).filter(([key = ""]) => /^(release|environment|dsn|tunnel)$/.test(key));
  const sampled = trace?.sampled === undefined ? [] : [["sampled", `${trace.sampled}`]];
  const browser = pairs.map(([key, value]) => [`browser's ${key}`, value]);
  return Object.fromEntries([...traced.filter(isCommon), ...sampled, ...browser]);
}

/** How a fresh page's settings differ from those declared and from other pages'; undefined if nothing is known. */
export function changedSettings({ options, probed }: Client, on: Response, page: PageTrace, path: string) {
  const { tunnelPath, dsn, trace, expectRelease: release, expectEnvironment: environment, expectSampleRate } = options;
  // An app may sample each page at a rate of its own, and decides anew for each request.
  const { sample_rate: _, sampled: __, ...first } = Object.values(probed)[0]?.settings ?? {};
  const { sampled: ___, ...before } = probed[path]?.settings ?? {};
  const expected: Settings = { ...before, ...first };
  if (trace && tunnelPath) expected.public_key = dsn.publicKey;
  const org = /^o(\d+)\.ingest\./.exec(dsn.host)?.[1];
  const now = settingsOf(on, page);
  if (trace && expectSampleRate) {
    now.sample_rate = String(Number(now.sample_rate));
    expected.sample_rate = String(Number(expectSampleRate));
    if (/^[01]$/.test(expectSampleRate)) expected.sampled = String(expectSampleRate === "1");
  }
  for (const name of ["release", "environment"])
    if (now[name] && now[`browser's ${name}`]) expected[`browser's ${name}`] = now[name];
  if (options.serverTiming) expected["browser's tunnel"] ??= now["browser's tunnel"] ?? tunnelPath;
  if (trace && tunnelPath && org && now.org_id) expected.org_id = org;
  for (const [name, value] of Object.entries({ release, environment })) {
    if (value && trace) expected[name] = value;
    if (value && (!trace || expected["browser's dsn"])) expected[`browser's ${name}`] = value;
  }
  // Another check tells what is wrong with the trace.
  const known = Object.entries(expected).filter(
    ([key]) => (page.trace && page.problem === "") || key.startsWith("browser's"),
  );
  if (known.length === 0) return undefined;
  const changed = known.filter(([key, value]) => now[key] !== value);
  return changed.map(([key, value]) => `${key} is ${now[key] ?? "not said"}, expected ${value}`).join("; ");
}
