// Writes one CycloneDX SBOM for each platform of an image: Debian's packages from the image itself, npm's from the lockfile beside its
// Dockerfile. Usage: node sbom.mjs NAME OCI-ARCHIVE CONTEXT OUTPUT-FOLDER. Format: https://cyclonedx.org/docs/1.5/json/
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const [name, archive, context, folder] = process.argv.slice(2);
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

/** The last version of dpkg's list among the layers, as a list of fields. Images without dpkg have none. */
function debianPackages({ layers }) {
  for (const { digest, mediaType } of [...layers].reverse()) {
    const layer = mediaType.endsWith("gzip") ? gunzipSync(blob(digest)) : blob(digest);
    const names = run("tar", ["-t"], { input: layer, encoding: "utf8" }).split("\n");
    const path = names.find((each) => /^(\.\/)?var\/lib\/dpkg\/status$/.test(each));
    if (!path) continue;
    const status = run("tar", ["-xO", path], { input: layer, encoding: "utf8" });
    return status.split("\n\n").flatMap((entry) => {
      const field = (key) => entry.match(new RegExp(`^${key}: (.*)$`, "m"))?.[1];
      return field("Status") === "install ok installed"
        ? [{ name: field("Package"), version: field("Version"), architecture: field("Architecture") }]
        : [];
    });
  }
  return [];
}

/** npm's own SBOM of what the lockfile installs in production. */
function npmComponents() {
  if (!existsSync(join(context, "package-lock.json"))) return [];
  const args = ["sbom", "--sbom-format=cyclonedx", "--package-lock-only", "--omit=dev"];
  return JSON.parse(run("npm", args, { cwd: context, encoding: "utf8" })).components;
}

const npm = npmComponents();
for (const manifest of manifests(JSON.parse(member("index.json")).manifests[0].digest)) {
  const { architecture } = json(manifest.config.digest);
  const debian = debianPackages(manifest).map((each) => {
    const purl = `pkg:deb/debian/${each.name}@${encodeURIComponent(each.version)}?arch=${each.architecture}`;
    return { "bom-ref": purl, type: "library", name: each.name, version: each.version, purl };
  });
  const components = [...debian, ...npm].sort((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1));
  const timestamp = new Date(Number(process.env.SOURCE_DATE_EPOCH) * 1000).toISOString();
  const component = { type: "container", name: `culvert-${name}`, version, "bom-ref": `culvert-${name}` };
  const document = { bomFormat: "CycloneDX", specVersion: "1.5", version: 1, metadata: { timestamp, component }, components };
  writeFileSync(join(folder, `culvert-${name}-${architecture}.cdx.json`), `${JSON.stringify(document, undefined, 1)}\n`);
}
