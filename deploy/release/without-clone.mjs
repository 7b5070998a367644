// Leaves out of the archive's Makefile the targets whose script only a clone has, and lets links to what only a clone has lead to the
// repository. Part of archive.sh. Usage: node without-clone.mjs FOLDER URL-OF-THE-TAG
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const [folder, url] = process.argv.slice(2);
const edit = (path, change) => writeFileSync(join(folder, path), change(readFileSync(join(folder, path), "utf8")));

edit("Makefile", (text) => {
  const isDead = (rule) => [...rule.matchAll(/\b(?:deploy|loadtest)\/\S+\.(?:sh|mjs|ts)/g)].some(([script]) => !existsSync(join(folder, script)));
  const rules = text.split("\n\n");
  const dead = rules.filter(isDead).map((rule) => rule.split(":")[0]);
  const phony = (line) => line.split(" ").filter((name) => !dead.includes(name)).join(" ");
  return rules.filter((rule) => !isDead(rule)).join("\n\n").replace(/^\.PHONY:.*$/m, phony);
});

for (const path of readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".md")))
  edit(path, (text) =>
    text.replace(/\]\((?!\w+:|#)([^)#\s]+)/g, (link, to) => {
      const target = normalize(join(dirname(path), to));
      return existsSync(join(folder, target)) ? link : `](${url}/${target}`;
    }),
  );
