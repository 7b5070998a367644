// Stands for the k6 command where there is none: runs a script of the suite with the shim. SHIM_ITERATIONS limits a load profile.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const [, , command, ...rest] = process.argv;
if (command === "version") {
  console.log("k6 v2.2.0 (shim)");
  process.exit(0);
}
const root = fileURLToPath(new URL("..", import.meta.url));
globalThis.__ENV = process.env;
const alias = [{ find: /^k6(\/\w+)?$/, replacement: `${root}test/k6-shim.ts` }];
const config = { root, configFile: false, logLevel: "error", resolve: { alias } };
// One module graph, so that script and runner share the shim's samples.
const { module } = await runnerImport(`${root}test/k6-main.ts`, config);
const { files, code, problem } = await module.run(rest.at(-1), process.env.SHIM_ITERATIONS);
if (problem) console.error(problem);
for (const [file, content] of Object.entries(files))
  if (file === "stdout") process.stdout.write(content);
  else writeFileSync(file.startsWith("/") ? file : root + file, content);
process.exit(code);
