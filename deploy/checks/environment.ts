import { container, exec, type Item, namespace } from "./api.ts";
import { parseDsn } from "./dsn.ts";
import { failed, type Result, warning } from "./result.ts";
import { role } from "./workloads.ts";

export type Environment = Record<string, string>;

/** The site's host names, the main one first. */
export const names = ({ SERVER_NAME }: Environment): string[] =>
  (SERVER_NAME || "localhost").split(/[\s,]+/).filter(Boolean);

const node = ["node", "-p", "process.argv.slice(1).map((name) => process.env[name] ?? '').join('\\n')"];
const print: Record<string, string[]> = { proxy: ["sh", "-c", 'for name; do printenv "$name" || echo; done', "sh"] };

/** Returns the variables with which a pod runs (none if it cannot be asked), and whether its ConfigMaps (of `maps`) have other values. */
export async function environment(pod: Item, maps: Item[]): Promise<{ settings?: Environment; results: Result[] }> {
  const { env = [], envFrom = [] } = container(pod);
  const configured = new Map<string, { value: string; map: string }>();
  for (const { configMapRef, secretRef, prefix = "" } of envFrom) {
    // It may set any of the names before it, and is not read.
    if (secretRef) for (const one of configured.values()) one.map = "";
    const data = maps.find(({ metadata }) => metadata.name === configMapRef?.name)?.data ?? {};
    for (const [key, value] of Object.entries(data)) configured.set(prefix + key, { value, map: configMapRef.name });
  }
  const own: string[] = env.map(({ name }: { name: string }) => name);
  // No other Secret is read, and a value of several lines is none of the settings.
  const isRead = ({ name, value, valueFrom }: Item["spec"]) =>
    name === "SENTRY_DSN" || !(valueFrom?.secretKeyRef || value?.includes("\n"));
  const all = [...configured].flatMap(([name, { value }]) => (value.includes("\n") ? [] : name));
  all.push(...env.filter(isRead).map(({ name }: Item["spec"]) => name));
  const { output, code } = await exec(pod, ...(print[role(pod)] ?? node), ...all);
  if (code !== 0) {
    const fix = `kubectl -n ${namespace} exec ${pod.metadata.name} -- ${role(pod) === "proxy" ? "sh" : "node"} --version`;
    return { results: [failed(pod.metadata.name, "its settings cannot be read", fix)] };
  }
  const values = output.split("\n");
  const settings = Object.fromEntries(all.map((name, at) => [name, values[at] ?? ""]));
  const [name, changed] =
    [...configured].find(
      ([one, { value, map }]) => map && !own.includes(one) && one in settings && settings[one] !== value,
    ) ?? [];
  if (!changed) return { settings, results: [] };
  const found = `${name} was changed, but pods run with the old value`;
  const fix = "set it in the overlay or in the chart's values, and apply";
  return { settings, results: [failed(`ConfigMap ${changed.map}`, found, fix)] };
}

/**
 * Compares the DSN with which each pod runs with the proxy's, and with that of the Secret, which the Job has as a new pod would have it.
 * `pods` has what `environment` found of each; `workloads` the pods' own, by role.
 */
export function checkDsn(pods: [pod: Item, settings: Environment][], workloads: Record<string, string>): Result[] {
  const [first] = pods;
  const own = first && container(first[0]).env.find(({ name }: { name: string }) => name === "SENTRY_DSN");
  const wanted = (own?.valueFrom?.secretKeyRef && process.env.SENTRY_DSN) || first?.[1].SENTRY_DSN;
  if (wanted && !parseDsn(wanted)) {
    const found = "the Secret's is not a DSN: at its next restart, a pod does not start";
    return [failed("DSN", found, "copy it again from the project's Client Keys page into the Secret")];
  }
  const others = pods.filter(([, { SENTRY_DSN }]) => SENTRY_DSN !== wanted);
  if (others.length === 0) return [];
  const roles = [...new Set(others.map(([pod]) => role(pod)))];
  const restart = `kubectl -n ${namespace} rollout restart ${roles.map((name) => workloads[name]).join(" ")}`;
  if (others.length < pods.length)
    return [failed("DSN", `${roles.join(" and ")} has another DSN than the other pods`, restart)];
  const found = "pods run with an older Secret: at its next restart, a pod takes the new DSN";
  return [warning("DSN", found, `is it right? ${restart}`)];
}
