import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { expect, test } from "vitest";
import { root } from "./support/docker.ts";

const files = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n");
const documents = files.filter((file) => file.endsWith(".md"));
const read = (file: string) => readFileSync(join(root, file), "utf8");
const exists = (path: string) => files.some((file) => file === path || file.startsWith(`${path}/`));
/** Everything but documents, in which a name must occur to exist. */
const isSource = (file: string) =>
  /\.(?:ts|tsx|mjs|js|sh|conf|yml|yaml|env|json|tpl|c?fg)$|file$|\.example$/i.test(file);
const code = files.filter(isSource).map(read).join("\n");

const anchors = (markdown: string) =>
  [...markdown.toLowerCase().matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading.replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-"),
  );

test.each(documents)("every link in %s leads to a file and a heading", (document) => {
  // A document that leaves the repository, as the package's README, has whole addresses.
  const text = read(document).replaceAll(
    "https://github.com/culvert/culvert/blob/main/",
    `${relative(dirname(document), ".")}/`,
  );
  const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  const broken = links.filter(([, path = "", anchor]) => {
    // The README of the release's archive, at whose root it stands.
    const folder = document === "deploy/release/install.md" ? "." : dirname(document);
    const target = path ? normalize(join(folder, path)).replace(/\/$/, "") : document;
    return !exists(target) || (anchor !== undefined && !anchors(read(target)).includes(anchor));
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

test("every link of the package's README leads to a page, wherever the package is", () => {
  expect(read("web/telemetry/README.md").match(/\]\((?!https:)[^)]*\)/g)).toBeNull();
});

test.each(documents.filter((file) => file !== "CHANGELOG.md"))(
  "every setting, make target, script and path that %s names exists",
  (document) => {
    const text = read(document);
    const find = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = ""]) => found);
    // Names of k6's own settings are k6's.
    const names = find(/`((?!K6_)[A-Z][A-Z0-9]*_[A-Z0-9_]+)(?==|`)/g);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([]);
    const targets = find(/(?:^ {4}|&& |`)make ([a-z0-9-]+)/gm);
    expect(targets.filter((target) => !new RegExp(`^${target}:`, "m").test(read("Makefile")))).toEqual([]);
    const isScript = (run: string) => {
      const [folder, name = ""] = run.replace(" run", "").split(" ");
      return name === "ci" || name in JSON.parse(read(`${folder}/package.json`)).scripts;
    };
    expect(find(/npm --prefix (\S+ (?:run )?[\w:-]+)/g).filter((run) => !isScript(run))).toEqual([]);
    const scripts = find(/\bsh ((?:deploy|loadtest|proxy|web)\/[\w/.-]+\.sh)/g);
    const isOfSources = ["CONTRIBUTING.md", "ARCHITECTURE.md"].includes(document);
    const paths = isOfSources ? find(/`((?:deploy|proxy|web|loadtest)(?:\/[\w/.-]+)?)`/g) : [];
    expect([...scripts, ...paths].filter((path) => !exists(path))).toEqual([]);
  },
);

// Of the proxy's own questions: proxy/test/app-paths.test.ts.
test.each([
  "deploy/web/health-check.cjs",
  "deploy/checks/ingest.ts",
  "deploy/checks/cluster/ask-proxy.sh",
  "deploy/kubernetes/templates/_web-pod.tpl",
  "deploy/kubernetes/templates/tests/pod.yaml",
])("what %s asks the app belongs to a trace that is not sampled", (file) => {
  // The last field of https://develop.sentry.dev/sdk/foundations/trace-propagation/#header-sentry-trace
  expect(read(file)).toMatch(/sentry-trace[\s\S]*-0[`'"; }]/i);
});
