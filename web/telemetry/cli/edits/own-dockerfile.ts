import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type App, read } from "../app.js";
import type { Step } from "../change.js";
import { FOLDER } from "./container.js";

/** What package managers read, copied from the build's context. */
const COPY = /^[ \t]*(?:COPY|ADD)[ \t](?!.*--from=)(?:[^\n\\]|\\[^\n]|\\\n)*\n/gim;
const MANIFEST = /^(?:package\S*\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock)\*?$/;

/** The app's own Dockerfiles that install packages before they copy everything: they need the packed @culvert/nextjs, too. */
export function ownDockerfiles(app: App): Step[] {
  if (app.culvert && !/^(?:file|link):/.test(app.culvert)) return [];
  return [...new Set([".", app.path])].flatMap((folder) =>
    readdirSync(join(app.root, folder))
      .filter((name) => /^Dockerfile(?!.*ignore$)|\.Dockerfile$/i.test(name))
      .flatMap((name) => withPackage(app, join(folder, name))),
  );
}

function withPackage(app: App, file: string): Step[] {
  const before = read(app, file) ?? "";
  if (RegExp(`(?:COPY|ADD|source=).*\\b${FOLDER}\\b`).test(before)) return [];
  // Each stage has the packages that it installs.
  const after = before
    .split(/(?=^FROM\b)/im)
    .map((stage) => {
      const copies = stage.match(COPY) ?? [];
      const found = copies.find((copy) => lineAfter(copy, app.path));
      return found ? stage.replace(found, () => found + lineAfter(found, app.path)) : stage;
    })
    .join("");
  if (after !== before) return [{ file, before, after }];
  // A mount of Docker's own template, what turbo prune leaves, or the manifests of another folder.
  const isPartial = /source=\S*package\S*\.json|\bout\/json\b/.test(before);
  if (!isPartial && !before.match(COPY)?.some((copy) => /\bpackage\S*\.json/.test(copy))) return [];
  const from = join(app.path, FOLDER);
  const fix = `put COPY ${from}/*.tgz ./${from}/ before that, or --mount=type=bind,source=${from},target=${from} into its RUN`;
  return [{ file, problem: "it installs packages without the file of @culvert/nextjs", fix }];
}

/** Takes an instruction that copies the app's package.json and returns the one that copies the package beside it; undefined for another. */
function lineAfter(instruction: string, path: string): string | undefined {
  const [, ...words] = instruction
    .replace(/\\\n|[[\]",]/g, " ")
    .split(/\s+/)
    .filter((word) => word && !word.startsWith("--"));
  const target = words.pop() ?? "";
  const source = words.find((word) => MANIFEST.test(basename(word)) && join(dirname(word)) === path);
  if (!source) return undefined;
  const folder = MANIFEST.test(basename(target)) ? dirname(target) : target;
  const flags = instruction.match(/--ch\w+=\S+/g) ?? [];
  return `${["COPY", ...flags, `${join(path, FOLDER)}/*.tgz`].join(" ")} ${folder.replace(/\/*$/, "/")}${FOLDER}/\n`;
}
