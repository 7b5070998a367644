import { failed, type Result, warning } from "../result.ts";
import type { Facts, Part } from "./facts.ts";

// Lines that say the chart's version, and how often an object has changed.
const versions = /^.\s*(helm\.sh\/chart|generation): /;

/** What `kubectl diff` has found, a line for each reason. */
export function checkRendered(facts: Facts): Result[] {
  const [error] = facts.lines("error diff");
  if (error) return [failed("rendered", `cannot be compared: ${error}`, "does kubectl diff work?")];
  const found: { name: string; isMissing: boolean; changed: string[] }[] = [];
  for (const line of facts.lines("diff")) {
    const [, kind, name] = /^diff .*\/MERGED-\d+\/\S*?\.([A-Z][A-Za-z]*)\.[^.\s]*\.(\S+)/.exec(line) ?? [];
    const last = found.at(-1);
    if (kind) found.push({ name: `${kind}/${name}`, isMissing: false, changed: [] });
    else if (last && /^@@ -0,0 /.test(line)) last.isMissing = true;
    else if (/^[+-](?![+-]{2} )/.test(line) && !versions.test(line)) last?.changed.push(line.replace(/^(.)\s+/, "$1"));
  }
  const reasons = new Map<string, string[]>();
  for (const { name, isMissing, changed } of found) {
    const reason = isMissing ? "is missing" : `differs from what was rendered: ${changed.slice(0, 4).join(" ")}`;
    if (isMissing || changed.length > 0) reasons.set(reason, [...(reasons.get(reason) ?? []), name]);
  }
  return [...reasons].map(([reason, [first = "", ...others]]) => {
    const name = others.length > 0 ? `${first} and ${others.length} more` : first;
    return failed(name, reason, "kubectl diff shows how; apply again");
  });
}

/** Takes managed fields, and returns their paths. */
const paths = (fields: Part): string[] =>
  Object.entries(fields).flatMap(([key, below]) => {
    if (key === ".") return [];
    const name = key.startsWith("k:") ? Object.values(JSON.parse(key.slice(2))).join() : key.replace(/^f:/, "");
    const more = paths(below);
    return more.length > 0 ? more.map((path) => `${name}.${path}`) : [name];
  });

/** Fields set by kubectl: Helm 4 ends with a conflict if the values set them, too. */
export const checkManagers = (facts: Facts): Result[] =>
  facts.items.flatMap(({ kind, metadata: { name, managedFields = [] } }) =>
    managedFields.flatMap(({ manager, operation, subresource = "scale", fieldsV1 = {} }) => {
      const isByHand = operation === "Update" && /^kubectl(-(?!rollout)|$)/.test(manager) && subresource === "scale";
      const { "f:spec": spec = {}, "f:data": data = {} } = fieldsV1;
      const set = isByHand ? paths({ ...data, ...spec }) : [];
      if (set.length === 0) return [];
      const fix = "README, Day two: a change by kubectl";
      return [warning(`${kind}/${name}`, `${manager} has set ${set.slice(0, 3).join(", ")}`, fix)];
    }),
  );
