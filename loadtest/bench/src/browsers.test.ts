import { expect, test } from "vitest";
import { bundle } from "./browsers.ts";

test("the script of the pages has all that it imports", async () => {
  expect(await bundle()).toContain("startSending");
});
