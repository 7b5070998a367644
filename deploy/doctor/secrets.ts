import { parseDsn } from "../../proxy/spool/src/dsn.ts";
import { allowed } from "./checks/setting-values.ts";
import type { Facts } from "./facts.ts";

/** Sentry's keys have 32 characters; a short one, such as the local ingest's, is a word that other texts contain. */
const MIN_KEY_LENGTH = 16;
const secretName = /PASSWORD|TOKEN|SECRET|KEY/;

/** Returns the secret values among the settings: keys of DSNs, passwords, tokens. */
export function secrets(facts: Facts | undefined, environment: NodeJS.ProcessEnv): Set<string> {
  const settings: Record<string, string | null | undefined>[] = [
    environment,
    ...Object.values(facts?.configured ?? {}).map((service) => service.environment),
    ...(facts?.containers ?? []).map((container) => container.environment),
  ];
  const found = settings.flatMap((of) =>
    Object.entries(of).flatMap(([name, value]) => {
      if (!value) return [];
      if (name.endsWith("DSN") || name.endsWith("DSNS")) return allowed(value).flatMap((dsn) => keyOf(dsn));
      if (secretName.test(name) && !name.endsWith("_FILE")) return [value];
      return /^\w+:\/\/[^/@]*:([^/@]+)@/.exec(value)?.slice(1) ?? [];
    }),
  );
  return new Set(found);
}

function keyOf(text: string): string[] {
  const dsn = parseDsn(text);
  if (!dsn) return [text];
  return dsn.key.length < MIN_KEY_LENGTH ? [] : [dsn.key];
}
