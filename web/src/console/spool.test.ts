import { expect, test } from "vitest";
import { checkSpoolMetrics, queueIn } from "./spool";

const METRICS = `# HELP culvert_spool_queued_envelopes Envelopes that wait
# TYPE culvert_spool_queued_envelopes gauge
culvert_spool_queued_envelopes{category="error"} 11
culvert_spool_queued_envelopes{category="transaction"} 2
culvert_spool_queued_envelopes{category="internal"} 7
culvert_spool_queued_bytes{category="error"} 9000
culvert_spool_oldest_envelope_age_seconds 184.5
culvert_spool_accepted_total{category="error"} 40
culvert_spool_delivered_total{category="error"} 20
culvert_spool_delivered_total{category="replay"} 3
culvert_spool_delivered_total{category="internal"} 9
`;

test("queued and delivered events are counted, without the console's own probes", () => {
  expect(queueIn(METRICS)).toEqual({ queued: 13, oldestS: 184.5, delivered: 23 });
});

test("queued events are a problem, with a way to fix it", async () => {
  expect(await checkSpoolMetrics(async () => METRICS)).toMatchObject({
    state: "bad",
    problem: expect.stringMatching(
      /^13 events are queued in the spool, the oldest for 3 min 4 s\. .*docker compose logs spool/,
    ),
  });
  const one = METRICS.replace(" 11", " 1").replace(" 2\n", " 0\n");
  expect((await checkSpoolMetrics(async () => one)).problem).toMatch(/^1 event is queued in the spool/);
});

test("an empty spool is good, and one that cannot be reached is unknown", async () => {
  expect(await checkSpoolMetrics(async () => "culvert_spool_oldest_envelope_age_seconds 0\n")).toMatchObject({
    state: "good",
    queue: { queued: 0, oldestS: 0, delivered: 0 },
  });
  const gone = async () => Promise.reject(new Error("gone"));
  expect(await checkSpoolMetrics(gone)).toMatchObject({ state: "unknown", problem: undefined });
});
