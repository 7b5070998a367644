import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lastLine, must, runApart } from "./run.ts";
import { docker, label, must as mustDocker, projectName, root } from "./support/docker.ts";
import { buildCa, buildWithDebian } from "./support/images.ts";

// A release of this machine's architecture, made by deploy/release, and installed from empty folders.
const version = readFileSync(join(root, "VERSION"), "utf8").trim();
const architecture = process.arch === "x64" ? "amd64" : process.arch;
const work = mkdtempSync(join(tmpdir(), "culvert-install-"));
const OUT = join(work, "out");
const bin = join(work, "bin");
const folder = join(work, `culvert-${version}`);
const read = (name: string) => readFileSync(join(OUT, name), "utf8");
let container: string;
let REGISTRY: string;
let released: string[] = [];
const helm = lastLine(await must(["sh", "deploy/kubernetes/helm.sh"]).catch(() => ""));

const port = 18_900 + Number(process.env.TEST_STACK ?? 0);
const page = `https://localhost:${port}`;
const settings = {
  COMPOSE_PROJECT_NAME: projectName("archive"),
  HTTPS_PORT: String(port),
  HTTP_PORT: String(port + 1_000),
  INGEST_PORT: String(port + 2_000),
};
async function type(command: string): Promise<string> {
  const { code, output } = await runApart(["sh", "-c", `${command} 2>&1`], settings, folder);
  expect(code, `${command}: ${output}`).toBe(0);
  return output.trim();
}
const down = "docker compose --profile '*' down --volumes --rmi local --timeout 0";

beforeAll(async () => {
  for (const path of [OUT, bin, folder]) mkdirSync(path);
  const image = await buildWithDebian();
  const config = 'version: 0.1\nstorage: { filesystem: { rootdirectory: /tmp } }\nhttp: { addr: ":5000" }\n';
  writeFileSync(join(work, "registry.yml"), config);
  container = await mustDocker(
    "run",
    "--detach",
    label,
    "--publish=127.0.0.1::5000",
    `--volume=${work}/registry.yml:/registry.yml:ro`,
    image,
    "docker-registry",
    "serve",
    "/registry.yml",
  );
  const address = (await mustDocker("port", container, "5000")).trim();
  REGISTRY = `${address}/culvert`;
  const script = (name: string, text: string) => writeFileSync(join(bin, name), `#!/bin/sh\n${text}`, { mode: 0o755 });
  const user = `${process.getuid?.()}:${process.getgid?.()}`;
  const options = `--rm --network=host --user=${user} --volume=${tmpdir()}:${tmpdir()} ${image}`;
  script("skopeo", `exec docker run ${options} skopeo --insecure-policy "$@"\n`);
  // The engine's builder writes no OCI archives. `docker save` does, without compression.
  const client = `PATH=$PATH_WITHOUT_THIS
case $* in "buildx imagetools "*) echo {}; exit ;; "buildx build "*) ;; *) exec docker "$@" ;; esac
for argument; do
  shift
  case $argument in
    --output | --build-context) ;;
    *=docker-image://*) echo "$argument" >>${work}/bases ;;
    type=oci,*) archive=\${argument#*dest=} archive=\${archive%%,*} ;;
    *) set -- "$@" "$argument" ;;
  esac
done
docker "$@" --tag ${address}/built:1 --build-arg SENTRY_ORG= --build-arg SENTRY_PROJECT= --build-arg SENTRY_URL= &&
  docker save --output $archive ${address}/built:1
`;
  script("docker", client);
  script("syft", `for output; do :; done\necho "$@" >"\${output#*=}"\n`);
  if (!helm) script("helm", "");
  const env = {
    OUT,
    VERSION: version,
    REGISTRY,
    SOURCE_URL: "https://git.example/culvert",
    SOURCE_DATE_EPOCH: "1700000000",
    PLATFORMS: `linux/${architecture}`,
    BUILD_CA_FILE: await buildCa(),
    PATH: `${bin}:${process.env.PATH}`,
    PATH_WITHOUT_THIS: process.env.PATH ?? "",
  };
  for (const step of ["images", "docker-archives", "chart", "archive", "sign", "push"])
    await must(["sh", `deploy/release/${step}.sh`], env);
  await docker("image", "rm", `${address}/built:1`);
  released = (read("digests").match(/.+/g) ?? []).map((line) => `${REGISTRY}/culvert-${line}`);
  await must(["tar", "-xzf", join(OUT, `culvert-${version}.tar.gz`), "-C", work]);
});

afterAll(async () => {
  await type(down).catch(String);
  await docker("rm", "--force", "--volumes", container);
  await docker("image", "rm", ...released, ...released.map((each) => each.replace(/@.*/, "")));
  rmSync(work, { recursive: true });
});

test("each released image has an SBOM; the provenance has the base images that were built on", () => {
  const scanned = `oci-archive:${OUT}/images/culvert-web.oci.tar --quiet --platform linux/${architecture} `;
  expect(read(`culvert-web-${architecture}.cdx.json`)).toContain(scanned);
  const files = read("SHA256SUMS")
    .match(/[^ ]+\.cdx\.json$/gm)
    ?.sort();
  const names = ["acme", "ingest", "proxy", "spool", "web"];
  expect(files).toEqual(names.map((name) => `culvert-${name}-${architecture}.cdx.json`));
  const { resolvedDependencies } = JSON.parse(read("provenance.json")).buildDefinition;
  const bases = readFileSync(join(work, "bases"), "utf8");
  expect(resolvedDependencies).toHaveLength(3);
  for (const { uri, digest } of resolvedDependencies.slice(1))
    expect(bases).toContain(`/${uri.replace("pkg:docker/", "").replace("@", ":")}@sha256:${digest.sha256}\n`);
});

test.skipIf(!helm)("the chart, from an OCI registry, has the released images and names its commit", async () => {
  const show = (what: string) =>
    type(`${helm} show ${what} --plain-http oci://${REGISTRY}/culvert --version ${version}`);
  const values = await show("values");
  for (const reference of released.slice(0, 2)) {
    expect(values).toContain(reference.slice(0, reference.indexOf(":", REGISTRY.length)));
    expect(values).toContain(reference.split("@")[1]);
  }
  const commit = await must(["git", "rev-parse", "HEAD"]);
  expect(await show("chart")).toContain(`org.opencontainers.image.revision: ${commit}\n`);
});

test("the archive: make up starts the released images by digest, make doctor finds nothing wrong", async () => {
  expect(await type("make up")).toContain(`${page}/`);
  await expect.poll(() => type("make doctor")).toContain("all is well");
  const images = await type("docker compose ps --format '{{.Image}}'");
  await type("make down");
  const running = released.filter((reference) => !reference.includes("culvert-acme:"));
  expect(images.split("\n").sort()).toEqual(running.sort());
});

test("without make and a registry: docker compose up starts what docker load has loaded", async () => {
  await mustDocker("rm", "--force", "--volumes", container);
  const loaded = await type(`docker load --quiet --input ${OUT}/culvert-${version}-images-${architecture}.tar`);
  expect(loaded.split("\n").sort()).toEqual(released.map((each) => `Loaded image: ${each.split("@")[0]}`).sort());
  await type("CULVERT_DIGESTS= SENTRY_DSN=https://key@o1.ingest.sentry.io/2 docker compose up --wait");
  await type(`curl -sSkf -o /dev/null ${page}/`);
  const services = await type("docker compose --profile '*' ps --all --services");
  expect(services.split("\n").sort()).toEqual(["proxy", "spool", "web"]);
});

// Of the build for an app of one's own: app-image.test.ts.
test("no image runs as root, or has a package manager, a setuid file or a source map", async () => {
  const managers = "for name in npm npx corepack yarn pnpm; do command -v $name; done";
  const maps = "find /app/.next -name '*.map'; grep -rl sourceMappingURL= /app/.next/static";
  const search = `find / -xdev -type f -perm /6000; ${managers}; { ${maps}; } 2>/dev/null; true`;
  for (const reference of released) {
    const image = reference.replace(/@.*/, "");
    const user = await mustDocker("image", "inspect", "--format", "{{.Config.User}}", image);
    expect(user, image).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    const options = ["--rm", label, "--user=0:0", "--network=none", "--entrypoint=sh"];
    expect(await mustDocker("run", ...options, image, "-c", search), image).toBe("");
  }
});
