import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Check, UNKNOWN } from "./check";
import { watchPath } from "./watch-path";

const good: Check = { state: "good", latencyMs: 1, problem: undefined };
const bad: Check = { state: "bad", latencyMs: undefined, problem: "gone" };
const serverChecks = (ingest: Check) => ({ ingest, upstream: good, spool: good });
const fromBrowser = vi.hoisted(() => vi.fn());
vi.mock("./browser-checks", () => ({ checkFromBrowser: fromBrowser }));

/** Starts a watch of a page that is visible or not, of a server with these answers in turn; undefined: no response. */
function start(answers: (ReturnType<typeof serverChecks> | undefined)[], hidden = false) {
  vi.useFakeTimers();
  vi.stubGlobal("document", { hidden });
  const fetch = vi.fn(async () => {
    const answer = answers.shift();
    return answer ? Response.json(answer) : Promise.reject(new TypeError("fetch failed"));
  });
  vi.stubGlobal("fetch", fetch);
  const report = vi.fn();
  return { fetch, report, stop: watchPath(serverChecks(good), report) };
}
beforeEach(() => fromBrowser.mockReset().mockResolvedValue({ proxy: good, web: good, tunnel: good }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("the server's checks stay up to date; the browser repeats its own only when the ingest changes or it has no response", async () => {
  const { report, stop } = start([serverChecks(good), serverChecks(bad), undefined]);
  await vi.advanceTimersByTimeAsync(7_000);
  stop();
  const states = report.mock.calls.map(([{ server }]) => server?.ingest.state);
  expect(states).toEqual(["good", "good", "bad", undefined]);
  expect(fromBrowser).toHaveBeenCalledTimes(3);
});

test("a check of the browser that failed is repeated", async () => {
  fromBrowser.mockResolvedValueOnce({ proxy: bad, web: good, tunnel: UNKNOWN });
  const { report, stop } = start([serverChecks(good), serverChecks(good)]);
  await vi.advanceTimersByTimeAsync(5_000);
  stop();
  expect(report.mock.lastCall?.[0].browser.proxy).toEqual(good);
  expect(fromBrowser).toHaveBeenCalledTimes(2);
});

test("a hidden page asks nothing, and neither does one that was left", async () => {
  const { fetch, stop } = start([], true);
  await vi.advanceTimersByTimeAsync(20_000);
  stop();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(fetch).not.toHaveBeenCalled();
});
