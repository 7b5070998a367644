import { expect, test } from "vitest";
import { checkSpoolMetrics, queuedIn } from "./spool";

const METRICS = `# HELP culvert_spool_queued_envelopes Envelopes that wait
# TYPE culvert_spool_queued_envelopes gauge
culvert_spool_queued_envelopes{category="error"} 11
culvert_spool_queued_envelopes{category="transaction"} 2
culvert_spool_queued_envelopes{category="internal"} 7
culvert_spool_queued_bytes{category="error"} 9000
culvert_spool_oldest_envelope_age_seconds 184.5
`;

test("queued envelopes are counted, without the console's own probes", () => {
  expect(queuedIn(METRICS)).toEqual({ envelopes: 13, oldestS: 184.5 });
});

test("queued envelopes are a problem, with a way to fix it", async () => {
  expect(await checkSpoolMetrics(async () => METRICS)).toMatchObject({
    state: "bad",
    problem: expect.stringMatching(
      /^13 envelopes are queued in the spool, the oldest for 3 min 4 s\. .*docker compose logs spool/,
    ),
  });
  const one = METRICS.replace(" 11", " 1").replace(" 2\n", " 0\n");
  expect((await checkSpoolMetrics(async () => one)).problem).toMatch(/^1 envelope is queued in the spool/);
});

test("an empty spool is good, and one that cannot be reached is unknown", async () => {
  expect(await checkSpoolMetrics(async () => "culvert_spool_oldest_envelope_age_seconds 0\n")).toMatchObject({
    state: "good",
  });
  const gone = async () => Promise.reject(new Error("gone"));
  expect(await checkSpoolMetrics(gone)).toMatchObject({ state: "unknown", problem: undefined });
});
