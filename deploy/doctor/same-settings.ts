// Ends with status 1 and one line if a new container would lose a setting: same_settings of deploy/host/replace.sh. Facts come by standard input.
import { text } from "node:stream/consumers";
import { type Facts, list, parseFacts } from "./facts.ts";

/** Variables whose value may follow from another setting: only the label culvert.given says that they were set. */
const DERIVED = ["CONSOLE", "CONTENT_SECURITY_POLICY", "NODE_EXTRA_CA_CERTS", "SENTRY_TRACES_SAMPLE_RATE"];

/**
 * Returns the settings with which running containers were started, and which neither the shell nor .env has now: a new container would
 * have the default. SENTRY_RELEASE is not among them, as each start has its own.
 */
export function dropped({ configured, containers, names }: Omit<Facts, "log">): string[] {
  const running = containers.filter(({ State }) => State.Status === "running");
  const given = running.flatMap(({ service, environment, imageEnvironment, labels }) => {
    const empty = Object.entries(configured[service] ?? {}).flatMap(([name, value]) => (value ? [] : name));
    // An image may set a variable itself.
    const isSet = (name: string) => environment[name] && environment[name] !== imageEnvironment[name];
    return [...list(labels["culvert.given"]), ...empty.filter((name) => isSet(name) && !DERIVED.includes(name))];
  });
  const now = ["SENTRY_RELEASE", ...names.environment, ...names.file];
  return [...new Set(given)].filter((name) => !now.includes(name)).sort();
}

if (import.meta.main) {
  const lost = dropped(parseFacts(await text(process.stdin))).join(", ");
  const problem =
    "set for the running containers, but neither in this shell nor in .env, so that new ones would have the default";
  const fix = "put it into .env, or give it again (to drop it: NAME= before the command)";
  if (lost) console.error(`culvert: ${lost}: ${problem}: ${fix}`);
  process.exitCode = lost ? 1 : 0;
}
