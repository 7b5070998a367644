import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Replaces text in a file of the proxy's configuration, such as snippets/timeouts.conf. Returns arguments for its `docker run`, and `remove`
 * to call when it has stopped. Throws if the file does not have the text.
 */
export function changeConfig(file: string, replacements: Record<string, string>): { args: string[]; remove(): void } {
  let text = readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
  for (const [from, to] of Object.entries(replacements)) {
    if (!text.includes(from)) throw new Error(`proxy/${file} has no "${from}": adapt this test`);
    text = text.replace(from, to);
  }
  const folder = mkdtempSync(join(tmpdir(), "culvert-"));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, "changed.conf"), text);
  return {
    args: [`--volume=${folder}/changed.conf:/etc/nginx/${file}:ro`],
    remove: () => rmSync(folder, { recursive: true }),
  };
}
