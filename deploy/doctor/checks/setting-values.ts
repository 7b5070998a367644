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

/** Checks that the containers run with the settings that hold now. The release is set at each start and may differ. */
export function applied(configured: Facts["configured"], containers: Container[]): Result[] {
  const changed = containers.flatMap(({ service, environment }) =>
    Object.entries(configured[service]?.environment ?? {})
      .filter(([name, value]) => name !== "SENTRY_RELEASE" && value !== null && environment[name] !== value)
      .map(([name]) => `${name} (${service})`),
  );
  const names = [...new Set(changed)].sort();
  if (names.length === 0) return [ok("applied", "the containers run with the settings that hold now")];
  return [failed("applied", `changed since the start: ${names.join(", ")}`, "make up")];
}
