import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { checkSpoolMetrics } from "./spool";

const replica = (
  queued: number,
  internal: number,
  ageS: number,
) => `culvert_spool_queued_envelopes{category="error"} ${queued}
culvert_spool_queued_envelopes{category="internal"} ${internal}
culvert_spool_oldest_envelope_age_seconds ${ageS}
culvert_spool_delivered_total{category="error"} 5
`;

test("what is queued in all replicas is added up, and the oldest of all counts", async () => {
  const replicas = [replica(2, 1, 30), replica(3, 1, 900), replica(0, 0, 0)];
  expect(await checkSpoolMetrics(async () => replicas)).toMatchObject({
    state: "good",
    problem: expect.stringContaining("Queued in the spool: 5 events"),
    queue: { queued: 5, oldestS: 900, delivered: 15 },
  });
});

test("client reports alone are no events that wait, and a replica without an answer is a problem", async () => {
  expect(await checkSpoolMetrics(async () => [replica(0, 7, 30)])).toMatchObject({ state: "good", problem: undefined });
  expect(await checkSpoolMetrics(() => Promise.reject(new Error("timeout")))).toMatchObject({ state: "bad" });
});

const routes = fileURLToPath(new URL("../app/(console)", import.meta.url));
const files = readdirSync(routes, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));

const isGuarded = (text: string) => /^{\n {2}await requireConsole\(\);\n/.test(text.slice(text.indexOf("{\n")));

test.each(files)("%s: each function that runs for a request begins with the guard", (file) => {
  const [, ...functions] = readFileSync(`${routes}/${file}`, "utf8").split(/^(?=(?:export .*|async )?function )/m);
  expect(functions.some(isGuarded)).toBe(true);
  // Others are in the static shell, which Next builds without a request.
  for (const text of functions.filter((code) => !isGuarded(code)))
    expect(text).not.toMatch(/\b(?:async|await|GET|POST)\b|settings\(/);
});
