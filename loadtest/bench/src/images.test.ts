import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { withTunnelRoute } from "./images.ts";

test("the option is inserted into web's config", () => {
  const config = readFileSync(new URL("../../../web/next.config.ts", import.meta.url), "utf8");
  expect(withTunnelRoute(config)).toContain('withCulvert(config, { sentry: { tunnelRoute: "/monitoring" },');
});
