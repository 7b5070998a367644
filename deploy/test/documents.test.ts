import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { root } from "./support/docker.ts";

const files = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n");

test.each(["CONTRIBUTING.md", "ARCHITECTURE.md"])("every file that %s names exists", (document) => {
  const paths = readFileSync(`${root}/${document}`, "utf8").matchAll(
    /`((?:deploy|proxy|web|loadtest)(?:\/[\w/.-]+)?)`/g,
  );
  const named = [...paths].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((path) => !files.some((file) => file === path || file.startsWith(`${path}/`)))).toEqual([]);
});

/** The anchors that GitHub makes of a document's headings. */
const anchors = (markdown: string) =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

test.each(files.filter((file) => file.endsWith(".md")))(
  "every link in %s leads to a file and a heading",
  (document) => {
    const links = [
      ...readFileSync(join(root, document), "utf8").matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g),
    ];
    const broken = links.filter(([, path = "", anchor]) => {
      // The README of the release's archive, at whose root it stands.
      const folder = document === "deploy/release/install.md" ? "." : dirname(document);
      const target = path ? normalize(join(folder, path)).replace(/\/$/, "") : document;
      if (!files.some((file) => file === target || file.startsWith(`${target}/`))) return true;
      return anchor !== undefined && !anchors(readFileSync(join(root, target), "utf8")).includes(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  },
);

const documents = files.filter((file) => file.endsWith(".md") && file !== "CHANGELOG.md");
const read = (file: string) => readFileSync(join(root, file), "utf8");
/** Everything but documents, in which a name must occur to exist. */
const sources = files.filter((file) =>
  /\.(?:ts|tsx|mjs|js|sh|conf|yml|yaml|env|json|tpl|c?fg)$|file$|\.example$/i.test(file),
);
const code = sources.map(read).join("\n");

test.each(documents)("every setting, make target and script that %s names exists", (document) => {
  const text = read(document);
  const find = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = ""]) => found);
  // Names of k6's own settings are k6's.
  const names = find(/`((?!K6_)[A-Z][A-Z0-9]*_[A-Z0-9_]+)(?==|`)/g);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([]);
  const targets = find(/(?:^ {4}|&& |`)make ([a-z0-9-]+)/gm);
  expect(targets.filter((target) => !new RegExp(`^${target}:`, "m").test(read("Makefile")))).toEqual([]);
  const scripts = find(/\bsh ((?:deploy|loadtest|proxy|web)\/[\w/.-]+\.sh)/g);
  expect(scripts.filter((script) => !files.includes(script))).toEqual([]);
  const runs = find(/npm --prefix (\S+ (?:run )?[\w:-]+)/g).map((run) => run.replace(" run", "").split(" "));
  const exists = ([folder, name = ""]: string[]) =>
    name === "ci" || name in JSON.parse(read(`${folder}/package.json`)).scripts;
  expect(runs.filter((run) => !exists(run))).toEqual([]);
});
