import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { inject } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Resource } from "./objects.ts";
import { folders, kubernetes } from "./paths.ts";

const [program = "", ...words] = inject("kustomize");

/** Whether this machine can render at all; tests that need it are skipped where it can't. */
export const canRender = program !== "";

/** The objects of one rendered folder, in the order in which they would be applied. Throws with kustomize's own words. */
export function render(folder: string): Resource[] {
  const output = execFileSync(program, [...words, folder], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  return parseAllDocuments(output).map((document) => document.toJS() as Resource);
}

/**
 * Base with these components on top, as an overlay would render that only lists them; `more` are further lines of the overlay, and
 * `transformers` further folders.
 */
export function renderWith(components: string[], more = "", transformers: string[] = []): Resource[] {
  // Out of the repository: two test files may ask for the same at once. kustomize takes no absolute paths.
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

/** Everything there is to deploy: base, each component alone on it, all of them together, each overlay; by name. */
export function everything(): [string, Resource[]][] {
  rendered ??= [
    ["base", render(join(kubernetes, "base"))],
    ...folders("components").map((name): [string, Resource[]] => [`base + ${name}`, renderWith([name])]),
    ["base + all components", renderWith(folders("components"))],
    ...folders("overlays").map((name): [string, Resource[]] => [name, render(join(kubernetes, "overlays", name))]),
  ];
  return rendered;
}

/** One of them, by its name. Throws when there is none. */
export function rendering(name: string): Resource[] {
  const found = everything().find(([candidate]) => candidate === name);
  if (!found) throw new Error(`nothing is called ${name}`);
  return found[1];
}
