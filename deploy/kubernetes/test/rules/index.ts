import { readFileSync } from "node:fs";
import { kubernetes } from "../lib/paths.ts";
import * as containers from "./containers.ts";
import * as objectSet from "./object-set.ts";
import * as podSecurity from "./pod-security.ts";
import { documented, referencesExist } from "./references.ts";
import * as replicas from "./replicas.ts";
import type { Rule } from "./rule.ts";
import { noSecretsInManifests } from "./secrets.ts";
import * as services from "./services.ts";
import { storedAsWritten } from "./stored-form.ts";

/** The rules for base, base with each component, and every overlay, by name. */
export const rules = {
  ...podSecurity,
  ...containers,
  ...services,
  ...objectSet,
  referencesExist: referencesExist(documented(readFileSync(`${kubernetes}/README.md`, "utf8"))),
  ...replicas,
  storedAsWritten,
  noSecretsInManifests,
} satisfies Record<string, Rule>;
