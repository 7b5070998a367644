import { beforeAll, describe, expect, test } from "vitest";
import type { Resource } from "./lib/objects.ts";
import { canRender, everything } from "./lib/render.ts";
import { rules } from "./rules/index.ts";

describe.skipIf(!canRender)("base, base with each component, every overlay", () => {
  let all: [string, Resource[]][];
  beforeAll(() => {
    all = everything();
  });

  test.each(Object.entries(rules))("%s", (_, rule) => {
    expect(all.flatMap(([name, objects]) => rule(objects).map((problem) => `${name}: ${problem}`))).toEqual([]);
  });
});
