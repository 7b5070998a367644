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

const print = {
  proxy: ["printenv"],
  web: ["node", "-p", "process.argv.slice(1).map((name) => process.env[name] ?? '').join('\\n')"],
};

/** Whether a pod runs with the values that its ConfigMaps have now. */
export async function checkSettings(name: "proxy" | "web", pod: Item): Promise<void> {
  const maps = await list("configmaps");
  const used =
    container(pod).envFrom?.map((from: Environment) => (from.configMapRef as unknown as Environment)?.name) ?? [];
  const own = new Set((container(pod).env ?? []).map((one: Environment) => one.name));
  for (const { metadata, data = {} } of maps.filter(({ metadata }) => used.includes(metadata.name))) {
    const names = Object.keys(data).filter((key) => !own.has(key) && !data[key]?.includes("\n"));
    const { output, code } = await exec(pod, ...print[name], ...names);
    const values = output.split("\n");
    const changed = names.find((key, at) => values[at] !== data[key]);
    if (code === 0 && changed)
      failed(
        `ConfigMap ${metadata.name}: ${changed} was changed, but pods run with the old value: set it in the overlay or in the chart's values, and apply`,
      );
  }
}
