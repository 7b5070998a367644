import { expect, test } from "vitest";
import { run } from "./run.ts";

/** The output of a command in a shell that has the functions of watch.sh. */
const shell = async (command: string) => (await run(["sh", "-c", `. deploy/host/watch.sh; ${command}`])).output.trim();

test.each([
  // total, failed, total before, failed before
  [[2000, 9, 2000, 0], "fine", "nine failures prove nothing"],
  [[1000, 45, 1000, 20], "fine", "less than twice the share, and one percent"],
  [[1000, 60, 1000, 20], "bad", "6 % after 2 %"],
  [[10_000, 30, 10_000, 0], "fine", "0.3 %"],
  [[1000, 100, 0, 0], "bad", "10 % after no requests"],
])("%j requests are %s: %s", async (counts, expected) => {
  expect(await shell(`if are_bad ${counts.join(" ")}; then echo bad; else echo fine; fi`)).toBe(expected);
});

test("of the proxy's counters, the 5xx of pages and files count, not envelopes", async () => {
  const metrics = [
    'culvert_requests_total{route="page",class="2xx"} 90',
    'culvert_requests_total{route="page",class="5xx"} 10',
    'culvert_requests_total{route="static",class="2xx"} 100',
    'culvert_requests_total{route="tunnel",class="5xx"} 1000',
  ];
  expect(await shell(`docker() { printf '%s\\n' '${metrics.join("' '")}'; }; counters`)).toBe("200 10");
});
