import { failed, type Result, rule } from "../result.ts";
import type { Facts } from "./facts.ts";

/** Names what .env sets and nothing reads. */
export function settingNames({ saved, unread }: Facts["names"]): Result[] {
  const [found, wrong] = [`every name in .env is known (${saved})`, `nothing reads ${unread.join(", ")} in .env`];
  return [rule("settings", unread.length === 0, found, wrong, "docs/settings.md has every name")];
}

/** Names values with white space at an end: error messages do not show it. */
export const spaces = ({ names: { spaced } }: Facts): Result[] =>
  spaced.map((name) => {
    const found = `${name} begins or ends with a space`;
    return failed("settings", found, "remove it in .env, then make up", { id: setting(name) });
  });
/** The id of a setting's check. */
export const setting = (name: string) => `setting:${name}`;

/** Checks that the containers run with the settings of the shell and of .env. */
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
  // A value that was typed for one start would be replaced by the default.
  const fix = "put the right value into .env, then make up";
  const wrong = `the containers run with other values than .env has: ${names.join(", ")}`;
  const found = "the containers run with the settings of the shell and .env";
  return [rule("applied", names.length === 0, found, wrong, fix)];
}
