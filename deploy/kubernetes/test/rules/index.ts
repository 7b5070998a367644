import { readFileSync } from "node:fs";
import { kubernetes } from "../lib/paths.ts";
import * as containers from "./containers.ts";
import { exceptionsLieWithin } from "./network.ts";
import * as podSecurity from "./pod-security.ts";
import { documented, referencesExist, serviceAccountsExist } from "./references.ts";
import * as replicas from "./replicas.ts";
import type { Rule } from "./rule.ts";
import { noSecretIsWrittenDown } from "./secrets.ts";
import * as services from "./services.ts";
import { storedAsWritten } from "./stored.ts";
import * as whole from "./whole.ts";

/** Every rule that holds for base, for each component on it and for every overlay; by the name a failure carries. */
export const rules = {
  ...podSecurity,
  ...containers,
  ...services,
  ...whole,
  referencesExist: referencesExist(documented(readFileSync(`${kubernetes}/README.md`, "utf8"))),
  serviceAccountsExist,
  ...replicas,
  storedAsWritten,
  noSecretIsWrittenDown,
  exceptionsLieWithin,
} satisfies Record<string, Rule>;
