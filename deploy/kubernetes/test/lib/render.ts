import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseAllDocuments } from "yaml";
import type { Resource } from "./objects.ts";
import { folders, kubernetes, root } from "./paths.ts";

const command = spawnSync("sh", [`${kubernetes}/kustomize.sh`], { encoding: "utf8" });
const [program = "", ...subcommand] = command.stdout.trim().split(" ");

/** Whether this machine has kustomize; else tests that need it are skipped. */
export const canRender = command.status === 0;

/** The objects of one rendered folder, in apply order. Throws with kustomize's message. */
export function render(folder: string): Resource[] {
  const output = execFileSync(program, [...subcommand, folder], { cwd: root, encoding: "utf8", stdio: "pipe" });
  return parseAllDocuments(output).map((document) => document.toJS());
}

/** Renders an overlay of base and these components; `more` are further lines of its kustomization, `transformers` further folders. */
export function renderWith(components: string[], more = "", transformers: string[] = []): Resource[] {
  // Kustomize accepts no absolute paths.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "culvert-")));
  const path = (name: string) => JSON.stringify(relative(folder, join(kubernetes, name)));
  const list = components.map((name) => path(`components/${name}`));
  writeFileSync(
    join(folder, "kustomization.yaml"),
    `namespace: culvert\nresources: [${path("base")}]\ncomponents: [${list}]\ntransformers: [${transformers.map(path)}]\n${more}`,
  );
  try {
    return render(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

let rendered: Map<string, Resource[]> | undefined;

/** All renderings by name: base, base with each component, base with all of them, each overlay. */
export function everything(): Map<string, Resource[]> {
  rendered ??= new Map([
    ["base", render(join(kubernetes, "base"))],
    ...folders("components").map((name): [string, Resource[]] => [`base + ${name}`, renderWith([name])]),
    ["base + all components", renderWith(folders("components"))],
    ...folders("overlays").map((name): [string, Resource[]] => [name, render(join(kubernetes, "overlays", name))]),
  ]);
  return rendered;
}

/** The rendering with this name. Throws if there is none. */
export function rendering(name: string): Resource[] {
  const found = everything().get(name);
  if (!found) throw new Error(`there is no rendering ${name}`);
  return found;
}
