import { failed, ok, type Result } from "../result.ts";
import type { Facts } from "./facts.ts";

/** Names what .env sets and nothing reads: a typo, or a setting of an earlier version. */
export function settingNames({ saved, unread }: Facts["names"]): Result[] {
  if (unread.length === 0) return [ok("settings", `every name in .env is known (${saved})`)];
  return [failed("settings", `nothing reads ${unread.join(", ")} in .env`, "docs/settings.md has every name")];
}

/** Names values with white space at an end, as they are written: nobody sees it in the messages of what reads them. */
export const spaces = ({ names: { spaced } }: Facts): Result[] =>
  spaced.map((name) => failed("settings", `${name} begins or ends with a space`, "remove it in .env, then make up"));

/** Checks that the containers run with the settings of the shell and of .env. The release is set at each start. */
export function applied({ configured, containers }: Facts): Result[] {
  const names = containers.flatMap(({ service, environment, HostConfig: { PortBindings } }) => {
    const published = Object.values(PortBindings ?? {}).flatMap((all) => all.map(({ HostPort }) => HostPort));
    const { environment: wanted = {}, ports = [] } = configured[service] ?? {};
    const values = Object.entries(wanted)
      .filter(([name, value]) => name !== "SENTRY_RELEASE" && value !== null && environment[name] !== value)
      .map(([name]) => `${name} (${service})`);
    const missing = ports.flatMap((port) => port.published ?? []).filter((port) => !published.includes(port));
    return [...values, ...new Set(missing.map((port) => `port ${port} (${service})`))];
  });
  if (names.length === 0) return [ok("applied", "the containers run with the settings of the shell and .env")];
  // A value that was typed for one start only, such as a DSN, would be replaced by the default.
  const fix = "put the right value into .env, then make up";
  return [failed("applied", `the containers run with other values than .env has: ${names.join(", ")}`, fix)];
}
