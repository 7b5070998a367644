import { expect, test } from "vitest";
import { serverIntegrations } from "./integrations";

test("our integrations replace the SDK's of the same name; the others stay", () => {
  const names = serverIntegrations([{ name: "Http" }, { name: "Console" }, { name: "Context" }]).map(
    ({ name }) => name,
  );
  expect(names.toSorted()).toEqual(["Console", "Context", "Http"]);
});
