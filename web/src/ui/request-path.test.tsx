import { beforeEach, expect, test, vi } from "vitest";
import { UNKNOWN } from "../console/check";
import { MAX_WAIT_MS } from "../console/server-checks";
import { parseSettings } from "../telemetry/settings/settings";
import { RequestPath } from "./request-path";

const checks = vi.hoisted(() => [vi.fn(), vi.fn(), vi.fn()]);
vi.mock("../console/server-checks", async (original) => {
  const [webToIngest, webToUpstream, spool] = checks;
  return { ...(await original<object>()), webToIngest, webToUpstream, spool };
});
beforeEach(() => {
  for (const check of checks) check.mockReset().mockResolvedValue(UNKNOWN);
});

test.each([
  [true, MAX_WAIT_MS],
  [false, undefined],
])("?wait %s: each check is given %s ms", async (wait, waitMs) => {
  await RequestPath({ settings: parseSettings({}), wait, throughProxy: true, sinceProxyMs: 1 });
  for (const check of checks) expect(check.mock.calls).toEqual([[waitMs]]);
});
