import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { inject } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Resource } from "./objects.ts";
import { folders, kubernetes } from "./paths.ts";

const [program = "", ...subcommand] = inject("kustomize");

/** Whether this machine has kustomize; else tests that need it are skipped. */
export const canRender = program !== "";

/** The objects of one rendered folder, in apply order. Throws with kustomize's message. */
export function render(folder: string): Resource[] {
  const output = execFileSync(program, [...subcommand, folder], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  return parseAllDocuments(output).map((document) => document.toJS() as Resource);
}

/**
 * Renders an overlay of base and these components; `more` are further lines of its kustomization, `transformers` further folders.
 */
export function renderWith(components: string[], more = "", transformers: string[] = []): Resource[] {
  // Outside the repository, because test files run in parallel; with relative paths, because kustomize accepts no absolute ones.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "culvert-")));
  const path = (name: string) => JSON.stringify(relative(folder, join(kubernetes, name)));
  try {
    const list = components.map((name) => path(`components/${name}`));
    writeFileSync(
      join(folder, "kustomization.yaml"),
      `namespace: culvert\nresources: [${path("base")}]\ncomponents: [${list}]\ntransformers: [${transformers.map(path)}]\n${more}`,
    );
    return render(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

let rendered: [string, Resource[]][] | undefined;

/** All renderings by name: base, base with each component, base with all of them, each overlay. */
export function everything(): [string, Resource[]][] {
  rendered ??= [
    ["base", render(join(kubernetes, "base"))],
    ...folders("components").map((name): [string, Resource[]] => [`base + ${name}`, renderWith([name])]),
    ["base + all components", renderWith(folders("components"))],
    ...folders("overlays").map((name): [string, Resource[]] => [name, render(join(kubernetes, "overlays", name))]),
  ];
  return rendered;
}

/** The rendering with this name. Throws if there is none. */
export function rendering(name: string): Resource[] {
  const found = everything().find(([candidate]) => candidate === name);
  if (!found) throw new Error(`there is no rendering ${name}`);
  return found[1];
}
