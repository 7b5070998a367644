import { failed, ok, type Result } from "../result.ts";
import { lastWords } from "./containers.ts";
import { type Facts, settingsOf } from "./facts.ts";

/** Finds names in .env that nothing reads. Compose and Docker read some themselves. */
export function settingNames({ file, known }: Facts["names"]): Result[] {
  const wrong = file.filter((name) => !known.includes(name) && !/^(?:COMPOSE|DOCKER|BUILDKIT|BUILDX)_/.test(name));
  if (wrong.length === 0) return [ok("settings", `every name in .env is known (${file.length})`)];
  return [failed("settings", `nothing reads ${wrong.join(", ")} in .env`, "docs/settings.md has every name")];
}

/** Finds values with white space at an end, which nobody sees in the messages of what reads them. */
export function spaces({ configured }: Facts): Result[] {
  const all = Object.values(configured).flatMap((settings) => Object.entries(settings));
  const wrong = [...new Set(all.flatMap(([name, value]) => (value && value !== value.trim() ? name : [])))];
  return wrong.map((name) =>
    failed("settings", `${name} begins or ends with a space`, "remove it in .env, then make up"),
  );
}

/** Checks that the containers run with the settings of the shell and of .env. The release is set at each start. */
export function applied({ configured, containers }: Facts): Result[] {
  const names = containers.flatMap(({ service, environment }) =>
    Object.entries(configured[service] ?? {})
      .filter(([name, value]) => name !== "SENTRY_RELEASE" && value !== null && environment[name] !== value)
      .map(([name]) => `${name} (${service})`),
  );
  if (names.length === 0) return [ok("applied", "the containers run with the settings of the shell and .env")];
  // A value that was typed for one start only, such as a DSN, would be replaced by the default.
  const fix = "put the right value into .env, then make up";
  return [failed("applied", `the containers run with other values than .env has: ${names.join(", ")}`, fix)];
}

/** Checks that web may reach what its settings and its log say that it calls. */
export function egress(facts: Facts): Result[] {
  const web = facts.containers.filter(({ service }) => service === "web");
  const networks = web.flatMap(({ NetworkSettings }) => Object.keys(NetworkSettings.Networks));
  if (networks.some((name) => name.endsWith("egress-on"))) return [];
  // The SDK's events go through the proxy.
  const isOutside = ([name, value]: [string, string]) =>
    !/^SENTRY|DSN|^npm_|PROXY/i.test(name) &&
    /^https?:\/\/[^/:\s]+\.[a-z]{2,}(?:[:/]|$)/i.test(value) &&
    !/\.localhost|_inside/.test(value);
  const [setting] = Object.entries(settingsOf(facts, "web")).find(isOutside) ?? [];
  const lines = web.flatMap(({ lastLines }) => lastLines);
  const call = lastWords(lines.filter((line) => /EAI_AGAIN|ENETUNREACH|ENOTFOUND/.test(line)));
  const found = setting ? `${setting} is the address of an outside service` : call;
  return found ? [failed("egress", `web has no way out, but: ${found}`, "WEB_EGRESS=on in .env, then make up")] : [];
}
