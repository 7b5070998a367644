// Stands for the k6 command where there is none: runs a script of the suite with the shim.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
globalThis.__ENV = process.env;
const alias = [{ find: /^k6(\/\w+)?$/, replacement: `${root}test/k6-shim.ts` }];
const config = { root, configFile: false, logLevel: "error", resolve: { alias } };
async function run() {
  const { default: iteration, ...script } = (await runnerImport(process.argv.at(-1), config)).module;
  const [scenario] = Object.values(script.options.scenarios ?? {});
  return globalThis.runScript({ ...script, iteration }, () => scenario?.iterations);
}
const { files, code, problem } = await run();
if (problem) console.error(`test aborted: ${problem}`);
for (const [file, content] of Object.entries(files))
  if (file === "stdout") process.stdout.write(content);
  else writeFileSync(file, content);
process.exit(code);
