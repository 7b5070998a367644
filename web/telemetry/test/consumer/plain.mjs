// Each part without a bundler, by import and by require, as in a test runner or a script. Exits with 1 if one does not load.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { exports } = require("@culvert/nextjs/package.json");
for (const part of Object.keys(exports).filter((path) => !path.endsWith(".json"))) {
  const name = `@culvert/nextjs${part.slice(1)}`;
  await import(name);
  require(name);
}
const { culvertOptions } = await import("@culvert/nextjs");
if (typeof culvertOptions({ dsn: "http://culvert@127.0.0.1:9/1" }).transport !== "function") process.exit(1);
console.log(`Node ${process.version}: each part loads without a bundler`);
