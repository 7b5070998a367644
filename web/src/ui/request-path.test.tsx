import { expect, test, vi } from "vitest";
import { MAX_WAIT_MS, serverChecks } from "../console/server-checks";
import { parseSettings } from "../settings";
import { RequestPath } from "./request-path";

vi.mock("../console/server-checks", async (original) => ({ ...(await original<object>()), serverChecks: vi.fn() }));

test.each([
  [true, MAX_WAIT_MS],
  [false, undefined],
])("?wait %s: the checks are given %s ms", async (wait, waitMs) => {
  await RequestPath({ settings: parseSettings({}), wait, throughProxy: true, sinceProxyMs: 1 });
  expect(serverChecks).toHaveBeenLastCalledWith(waitMs);
});
