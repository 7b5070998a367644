import { parseDsn } from "../../../proxy/spool/src/dsn.ts";
import { type Container, type Facts, settingsOf } from "../facts.ts";
import { failed, ok, type Result } from "../result.ts";
import { lastWords } from "./containers.ts";

/** Returns the DSNs of a list as TUNNEL_ALLOWED_DSNS holds it. */
export const allowed = (list = "") => list.split(/[ ,]+/).filter(Boolean);

/** Checks that each DSN is one, and names where it leads. */
export function dsns(settings: { SENTRY_DSN?: string; TUNNEL_ALLOWED_DSNS?: string }): Result[] {
  const list = [
    ["SENTRY_DSN", settings.SENTRY_DSN ?? ""],
    ...allowed(settings.TUNNEL_ALLOWED_DSNS).map((dsn) => ["TUNNEL_ALLOWED_DSNS", dsn]),
  ];
  return list.map(([name, text = ""]) => {
    const dsn = parseDsn(text);
    if (dsn) return ok("dsn", `${name}: project ${dsn.project} at ${dsn.host}`);
    return failed(
      "dsn",
      `${name} is not a DSN`,
      "copy it from the project's Client Keys page: https://<key>@<host>/<project>",
    );
  });
}

/** Finds names in .env that nothing reads. Compose and Docker read some themselves. */
export function settingNames({ file, known }: Facts["names"]): Result[] {
  const wrong = file.filter((name) => !known.includes(name) && !/^(?:COMPOSE|DOCKER|BUILDKIT|BUILDX)_/.test(name));
  if (wrong.length === 0) return [ok("settings", `every name in .env is known (${file.length})`)];
  return [
    failed(
      "settings",
      `nothing reads ${wrong.join(", ")} in .env`,
      "look for a typing error: docs/settings.md has every name",
    ),
  ];
}

/** Returns the settings, with their services, whose running value is not the one that compose resolves now. The release is set at each start. */
export function changed({ configured, containers }: Pick<Facts, "configured" | "containers">): string[] {
  const names = containers.flatMap(({ service, environment }) =>
    Object.entries(configured[service]?.environment ?? {})
      .filter(([name, value]) => name !== "SENTRY_RELEASE" && value !== null && environment[name] !== value)
      .map(([name]) => `${name} (${service})`),
  );
  return [...new Set(names)].sort();
}

/** Checks that the containers run with the settings of the shell and of .env. */
export function applied(facts: Facts): Result[] {
  const names = changed(facts);
  if (names.length === 0) return [ok("applied", "the containers run with the settings of the shell and of .env")];
  // A value that was typed only for one start, such as a DSN, would be replaced by the default.
  const fix = "put the value that shall last into .env; make up then applies it";
  return [failed("applied", `the running value differs from the shell's and .env's: ${names.join(", ")}`, fix)];
}

/** Settings that have a value in the compose file when nobody sets them. */
export const WITH_DEFAULT = ["CONSOLE", "CONTENT_SECURITY_POLICY", "HTTP3", "SENTRY_DSN", "SENTRY_TRACES_SAMPLE_RATE"];
/** Those of them whose value in the compose file depends on another setting. */
const FROM_OTHERS: Record<string, string[]> = {
  SENTRY_DSN: ["CONSOLE", "SENTRY_TRACES_SAMPLE_RATE"],
  WEB_IMAGE: ["CONTENT_SECURITY_POLICY"],
};

/**
 * Returns the settings with which running containers were started, and which neither the shell nor .env has now: a new container would
 * have the default. SENTRY_RELEASE is not among them, as each start has its own.
 */
export function dropped({
  configured,
  containers,
  names,
}: Pick<Facts, "configured" | "containers" | "names">): string[] {
  const differing = containers
    .filter(({ status }) => status === "running")
    .flatMap(({ service, environment, image, given }) => [
      ...given,
      ...Object.entries(configured[service]?.environment ?? {})
        .filter(([name, value]) => {
          const running = environment[name] ?? "";
          // A constant of the compose file is no setting; an image may set the variable itself.
          const isSetting = !value || WITH_DEFAULT.includes(name);
          return isSetting && running && running !== (value ?? "") && running !== image.environment[name];
        })
        // The name of the setting, not of the variable of Node.
        .map(([name]) => (name === "NODE_EXTRA_CA_CERTS" ? "INGEST_CA_FILE" : name)),
    ]);
  const now = [
    "SENTRY_RELEASE",
    ...names.environment,
    ...names.file,
    ...differing.flatMap((name) => FROM_OTHERS[name] ?? []),
  ];
  return [...new Set(differing)].filter((name) => !now.includes(name)).sort();
}

/** Checks that web may reach what its settings and its log say that it calls. */
export function egress(facts: Facts): Result[] {
  const web = facts.containers.filter(({ service }) => service === "web");
  if (web.length === 0 || web.some(({ networks }) => networks.some((name) => name.endsWith("egress-on")))) return [];
  const fix = "WEB_EGRESS=on in .env, then make up";
  // The SDK's events go through the proxy.
  const outside = Object.entries(settingsOf(facts, "web")).find(
    ([name, value]) =>
      !/^SENTRY|DSN|^npm_|PROXY/i.test(name) &&
      /^https?:\/\/[^/:\s]+\.[a-z]{2,}(?:[:/]|$)/i.test(value) &&
      !/\.localhost|_inside/.test(value),
  );
  if (outside)
    return [failed("egress", `web has no way out, but ${outside[0]} is the address of an outside service`, fix)];
  const line = web.map(outsideCall).find(Boolean);
  return line ? [failed("egress", `web has no way out, and its log says: ${line}`, fix)] : [];
}
const outsideCall = ({ lastLines }: Container) =>
  lastWords(lastLines.filter((line) => /EAI_AGAIN|ENETUNREACH|ENOTFOUND/.test(line)));

/** Checks that only load balancers are trusted to report the client IP: within a network that anybody is in, everybody can. */
export function trusted({ TRUSTED_PROXIES = "" }: Record<string, string>): Result[] {
  const wide = allowed(TRUSTED_PROXIES).filter((network) => Number(network.split("/")[1] ?? 32) < 8);
  if (wide.length === 0) return [];
  return [
    failed(
      "client IP",
      `TRUSTED_PROXIES has ${wide.join(", ")}: any client can forge its address`,
      "list only your load balancers",
    ),
  ];
}
