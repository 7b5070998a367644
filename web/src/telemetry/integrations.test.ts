import { expect, test } from "vitest";
import { leaner } from "./integrations";

test("the SDK's own give way to ours of the same name; the others stay", () => {
  const names = leaner([{ name: "Http" }, { name: "Console" }, { name: "Context" }]).map(({ name }) => name);
  expect(names.toSorted()).toEqual(["Console", "Context", "Http"]);
});
