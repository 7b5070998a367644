const { mkdirSync, readFileSync, writeFileSync, renameSync, readdirSync } = require("node:fs");
const { join } = require("node:path");

const home = "/app/.next";
const read = (file) => readFileSync(join(home, file), "utf8");
const files = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

const { node: actions } = JSON.parse(read("server/server-reference-manifest.json"));
const [gone] = Object.entries(actions).find(([, { exportedName }]) => exportedName === "beSlow");
const { deploymentId } = JSON.parse(read("required-server-files.json")).config;

const other = (text) => [...text].reverse().join("");
const renames = new Map([
  [deploymentId, other(deploymentId)],
  [gone, other(gone)],
  ...readdirSync(join(home, "static/chunks")).map((name) => {
    const [, stem, end] = /^(.*)(\.\w+)$/.exec(name);
    return [name, other(stem) + end];
  }),
]);

const pattern = new RegExp([...renames.keys()].map((text) => text.replaceAll(".", "\\.")).join("|"), "g");
const renamed = (text) => text.replace(pattern, (found) => renames.get(found));
mkdirSync(join(home, "static", other(deploymentId)));
for (const file of [...files(home), "/app/server.js"].filter((name) => /\.(js|css|json|html|rsc|meta)$/.test(name))) {
  const before = readFileSync(file, "utf8");
  const after = renamed(before);
  if (after !== before) writeFileSync(file, after);
  if (renamed(file) !== file) renameSync(file, renamed(file));
}
