import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Replaces text in a file of the proxy's configuration. Returns arguments for its `docker run`, and `remove` to call when it has stopped. */
export function changeConfig(file: string, from: string, to: string): { args: string[]; remove(): void } {
  const text = readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
  if (!text.includes(from)) throw new Error(`proxy/${file} has no "${from}": adapt this test`);
  const folder = mkdtempSync(join(tmpdir(), "culvert-"));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, "changed.conf"), text.replace(from, to));
  return {
    args: [`--volume=${folder}/changed.conf:/etc/nginx/${file}:ro`],
    remove: () => rmSync(folder, { recursive: true }),
  };
}
