// Writes one CycloneDX SBOM for each platform of an image: Debian's packages, Node and Nginx from the image itself, npm's packages from the lockfile
// beside its Dockerfile. Without an archive, one for the npm package in CONTEXT, which only has peers.
// Usage: node sbom.mjs NAME OUTPUT-FOLDER CONTEXT [OCI-ARCHIVE]. Format: https://cyclonedx.org/docs/1.5/json/
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const [name, folder, context, archive] = process.argv.slice(2);
const version = readFileSync(new URL("../../VERSION", import.meta.url), "utf8").trim();
const MAX_BYTES = 1 << 30;
const run = (command, args, options) => execFileSync(command, args, { maxBuffer: MAX_BYTES, ...options });
const member = (path) => run("tar", ["-xOf", archive, path]);
const blob = (digest) => member(`blobs/${digest.replace(":", "/")}`);
const json = (digest) => JSON.parse(blob(digest));

/** The platforms' manifests; an archive of one platform may name its manifest without an index in between. */
function manifests(digest) {
  const content = json(digest);
  return content.layers ? [content] : content.manifests.flatMap((each) => manifests(each.digest));
}

/** A file of the image, from the last layer that has it; empty if none has. */
function fileOf({ layers }, pattern) {
  for (const { digest, mediaType } of [...layers].reverse()) {
    const layer = mediaType.endsWith("gzip") ? gunzipSync(blob(digest)) : blob(digest);
    const path = run("tar", ["-t"], { input: layer, encoding: "utf8" })
      .split("\n")
      .find((each) => pattern.test(each));
    if (path) return run("tar", ["-xO", path], { input: layer, encoding: "utf8" });
  }
  return "";
}

/** Components of dpkg's list. `upstream` is the source package, by which vulnerabilities are known; only a release has a number. */
function debianComponents(manifest) {
  const release = fileOf(manifest, /^(\.\/)?usr\/lib\/os-release$/).match(/^VERSION_ID="?([0-9]+)/m)?.[1] ?? "sid";
  return fileOf(manifest, /^(\.\/)?var\/lib\/dpkg\/status$/)
    .split("\n\n")
    .flatMap((entry) => {
      const field = (key) => entry.match(new RegExp(`^${key}: (.*)$`, "m"))?.[1];
      if (field("Status") !== "install ok installed") return [];
      const [name, version, source = field("Package")] = [field("Package"), field("Version"), field("Source")?.split(" ")[0]];
      const qualifiers = `arch=${field("Architecture")}&distro=debian-${release}&upstream=${source}`;
      const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?${qualifiers}`;
      return [{ "bom-ref": purl, type: "library", name, version, purl }];
    });
}

/** What the base images have from neither Debian nor npm; they name its version in the environment. */
function serverComponents({ Env = [] }) {
  return Env.flatMap((variable) => {
    const [, server, version] = variable.match(/^(NODE|NGINX)_VERSION=(.+)/) ?? [];
    if (!server) return [];
    const purl = `pkg:generic/${server.toLowerCase()}@${version}`;
    return [{ "bom-ref": purl, type: "application", name: server.toLowerCase(), version, purl }];
  });
}

/** npm's own SBOM of what the lockfile installs in production. */
function npmComponents() {
  if (!existsSync(join(context, "package-lock.json"))) return [];
  const args = ["sbom", "--sbom-format=cyclonedx", "--package-lock-only", "--omit=dev"];
  return JSON.parse(run("npm", args, { cwd: context, encoding: "utf8" })).components;
}

function write(file, component, components) {
  const timestamp = new Date(Number(process.env.SOURCE_DATE_EPOCH) * 1000).toISOString();
  const metadata = { timestamp, component: { ...component, version, "bom-ref": component.name } };
  components.sort((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1));
  const document = { bomFormat: "CycloneDX", specVersion: "1.5", version: 1, metadata, components };
  writeFileSync(join(folder, `${file}.cdx.json`), `${JSON.stringify(document, undefined, 1)}\n`);
}

if (archive) {
  const npm = npmComponents();
  for (const manifest of manifests(JSON.parse(member("index.json")).manifests[0].digest)) {
    const { architecture, config } = json(manifest.config.digest);
    const components = [...debianComponents(manifest), ...serverComponents(config), ...npm];
    write(`culvert-${name}-${architecture}`, { type: "container", name: `culvert-${name}` }, components);
  }
} else {
  write(`culvert-${name}`, { type: "library", name: "@culvert/nextjs", purl: `pkg:npm/%40culvert/nextjs@${version}` }, []);
}
