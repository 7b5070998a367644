import { container, exec, type Item, list, namespace } from "./api.ts";
import { failed } from "./result.ts";

export type Environment = Record<string, string>;

/** The variables of a pod's own container, by its manifest and ConfigMaps, without those of Secrets. */
export async function environment(pod: Item): Promise<Environment> {
  const { env = [], envFrom = [] } = container(pod);
  const maps = await list("configmaps");
  const all: Environment = {};
  for (const { configMapRef } of envFrom)
    Object.assign(all, maps.find(({ metadata }) => metadata.name === configMapRef?.name)?.data);
  for (const { name, value, valueFrom } of env) {
    const known = valueFrom?.fieldRef?.fieldPath === "metadata.namespace" ? namespace : value;
    if (known !== undefined)
      all[name] = known.replace(/\$\((\w+)\)/g, (whole: string, used: string) => all[used] ?? whole);
  }
  return all;
}

/** The site's host names, the main one first. */
export const names = ({ SERVER_NAME }: Environment): string[] =>
  (SERVER_NAME || "localhost").split(/[\s,]+/).filter(Boolean);

const node = ["node", "-p", "process.argv.slice(1).map((name) => process.env[name] ?? '').join('\\n')"];
const print = { proxy: ["sh", "-c", 'for name; do printenv "$name" || echo; done', "sh"], web: node, spool: node };

/** Whether a pod runs with the values that its ConfigMaps have now. */
export async function checkSettings(name: keyof typeof print, pod: Item): Promise<void> {
  const { env = [], envFrom = [] } = container(pod);
  const maps = await list("configmaps");
  const settings = new Map<string, { value: string; map: string }>();
  for (const { configMapRef, secretRef, prefix = "" } of envFrom) {
    // It may set any of the names before it, and is not read.
    if (secretRef) settings.clear();
    const data = maps.find(({ metadata }) => metadata.name === configMapRef?.name)?.data ?? {};
    for (const [key, value] of Object.entries(data)) settings.set(prefix + key, { value, map: configMapRef.name });
  }
  for (const { name } of env) settings.delete(name);
  const wanted = [...settings].filter(([, { value }]) => !value.includes("\n"));
  const { output, code } = await exec(pod, ...print[name], ...wanted.map(([name]) => name));
  const values = output.split("\n");
  const [changed] = wanted.filter(([, { value }], at) => values[at] !== value);
  if (code === 0 && changed)
    failed(
      `ConfigMap ${changed[1].map}: ${changed[0]} was changed, but pods run with the old value: set it in the overlay or in the chart's values, and apply`,
    );
}
