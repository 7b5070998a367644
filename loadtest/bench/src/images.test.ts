import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { withTunnelRoute } from "./images.ts";

test("the option is inserted into web's config", () => {
  const config = readFileSync(new URL("../../../web/next.config.ts", import.meta.url), "utf8");
  expect(withTunnelRoute(config)).toContain('tunnelRoute: "/monitoring"');
});

test("a config with another structure is rejected, not built without the option", () => {
  expect(() => withTunnelRoute("export default {};")).toThrow("has no 'withSentryConfig(config, {'");
});
