import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { docker, label } from "../../../deploy/test/support/docker.ts";

// The units need what Node 24 brings (SQLite, zstd), so they run on the image's own Node and runner; each counts here.
const folder = fileURLToPath(new URL("..", import.meta.url));
const vectors = fileURLToPath(new URL("../../../deploy/test/vectors", import.meta.url));
const { output } = await docker(
  ...[
    "run",
    "--rm",
    label,
    `--volume=${folder}:/spool:ro`,
    `--volume=${vectors}:/deploy/test/vectors:ro`,
    "--workdir=/spool",
    "node:24-trixie-slim",
  ],
  ...["node", "--disable-warning=ExperimentalWarning", "--test", "--test-reporter=tap", "src/*.test.ts"],
);
const results = [...output.matchAll(/^ *(not )?ok \d+ - (.+)$/gm)];

test("the units ran", () => expect(results.length, output).toBeGreaterThan(50));
for (const [, failed, name = ""] of results) test(name, () => expect(failed, output).toBeUndefined());
