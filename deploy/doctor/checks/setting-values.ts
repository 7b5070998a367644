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
