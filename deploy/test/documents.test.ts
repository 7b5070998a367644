import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { root } from "./support/docker.ts";

const text = readFileSync(`${root}/CONTRIBUTING.md`, "utf8");
const files = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n");

test("CONTRIBUTING.md has a row for every folder with tests", () => {
  const projects = files
    .filter((file) => file.endsWith("package.json"))
    .filter((file) => "test" in (JSON.parse(readFileSync(`${root}/${file}`, "utf8")).scripts ?? {}))
    .map(dirname);
  expect(projects.length).toBeGreaterThan(6);
  const rows = [...text.matchAll(/^\| `([^`]+)`/gm)].map(([, folder]) => folder);
  expect(projects.filter((project) => !rows.includes(project))).toEqual([]);
});

test("CONTRIBUTING.md names every project of Playwright", () => {
  const config = readFileSync(`${root}/web/e2e/playwright.config.ts`, "utf8");
  const names = [...config.matchAll(/\{ name: "(\w+)"/g)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(2);
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

test.each(["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"])("every file that %s names exists", (document) => {
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
      const target = path ? normalize(join(dirname(document), path)).replace(/\/$/, "") : document;
      if (!files.some((file) => file === target || file.startsWith(`${target}/`))) return true;
      return anchor !== undefined && !anchors(readFileSync(join(root, target), "utf8")).includes(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  },
);

test("README.md repeats names and defaults of docs/settings.md", () => {
  const rows = (file: string) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/^\| (`[A-Z][A-Z0-9_]*` \| [^|]+) \|/gm)].map(([, row]) => row);
  const all = rows("docs/settings.md");
  expect(rows("README.md").length).toBeGreaterThan(5);
  expect(rows("README.md").filter((row) => !all.includes(row))).toEqual([]);
});

test("every test that SECURITY.md names exists", () => {
  const commands = [
    ...readFileSync(join(root, "SECURITY.md"), "utf8").matchAll(
      /npm --prefix (\S+) (?:run )?test(?::units)? ([^`]+)`/g,
    ),
  ];
  const filters = commands.flatMap(([, folder, names = ""]) => names.split(" ").map((name) => ({ folder, name })));
  expect(filters.length).toBeGreaterThan(10);
  const exists = ({ folder, name }: (typeof filters)[number]) =>
    files.some((file) => file.startsWith(`${folder}/`) && file.endsWith(".test.ts") && file.includes(name));
  expect(filters.filter((filter) => !exists(filter))).toEqual([]);
});
