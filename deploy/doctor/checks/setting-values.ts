import { parseDsn } from "../../../proxy/spool/src/dsn.ts";
import type { Container, Facts } from "../facts.ts";
import { failed, ok, type Result } from "../result.ts";

/** Checks that each DSN is one, and names where it leads. */
export function dsns(settings: { SENTRY_DSN?: string; TUNNEL_ALLOWED_DSNS?: string }): Result[] {
  const list = [
    ["SENTRY_DSN", settings.SENTRY_DSN ?? ""] as const,
    ...allowed(settings.TUNNEL_ALLOWED_DSNS).map((dsn) => ["TUNNEL_ALLOWED_DSNS", dsn] as const),
  ];
  return list.map(([name, text]) => {
    const dsn = parseDsn(text);
    return dsn
      ? ok("dsn", `${name}: project ${dsn.project} at ${dsn.host}`)
      : failed(
          "dsn",
          `${name} is not a DSN`,
          "copy it from the project's Client Keys page: https://<key>@<host>/<project>",
        );
  });
}

/** Returns the DSNs of a list as TUNNEL_ALLOWED_DSNS holds it. */
export const allowed = (list = "") => list.split(/[ ,]+/).filter(Boolean);

/** Returns the settings, with their services, whose running value is not the one that compose resolves now. The release is set at each start. */
export function changed(configured: Facts["configured"], containers: Container[]): string[] {
  const names = containers.flatMap(({ service, environment }) =>
    Object.entries(configured[service]?.environment ?? {})
      .filter(([name, value]) => name !== "SENTRY_RELEASE" && value !== null && environment[name] !== value)
      .map(([name]) => `${name} (${service})`),
  );
  return [...new Set(names)].sort();
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
          return isSetting && running && running !== (value ?? "") && running !== image[name];
        })
        // The name of the setting, not of the variable of Node.
        .map(([name]) => (name === "NODE_EXTRA_CA_CERTS" ? "INGEST_CA_FILE" : name)),
    ]);
  const following = differing.flatMap((name) => FROM_OTHERS[name] ?? []);
  const now = ["SENTRY_RELEASE", ...names.environment, ...names.file, ...following];
  return [...new Set(differing)].filter((name) => !now.includes(name)).sort();
}

/** Checks that the containers run with the settings of the shell and of .env. */
export function applied(configured: Facts["configured"], containers: Container[]): Result[] {
  const names = changed(configured, containers);
  if (names.length === 0) return [ok("applied", "the containers run with the settings of the shell and of .env")];
  // Not "make up": a value that was typed only for that start, such as a DSN, would be replaced by the default.
  return [
    failed(
      "applied",
      `the running value differs from the shell's and .env's: ${names.join(", ")}`,
      "put the value that shall last into .env; the next start replaces the running one by it, or by the default",
    ),
  ];
}
