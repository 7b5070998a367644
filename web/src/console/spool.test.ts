import { expect, test } from "vitest";
import { lookAtSpool, waitingIn } from "./spool";

const METRICS = `# HELP culvert_spool_queued_envelopes Envelopes that wait
# TYPE culvert_spool_queued_envelopes gauge
culvert_spool_queued_envelopes{category="error"} 11
culvert_spool_queued_envelopes{category="transaction"} 2
culvert_spool_queued_envelopes{category="internal"} 7
culvert_spool_queued_bytes{category="error"} 9000
culvert_spool_oldest_envelope_age_seconds 184.5
`;

test("what waits is counted, without the console's own questions", () => {
  expect(waitingIn(METRICS)).toEqual({ reports: 13, oldestS: 184.5 });
});

test("waiting reports are said to wait, with what to do", async () => {
  expect(await lookAtSpool(async () => METRICS)).toMatchObject({
    state: "bad",
    problem: expect.stringMatching(
      /^13 reports wait in the spool, the oldest for 3 min 4 s\. .*docker compose logs spool/,
    ),
  });
  const one = METRICS.replace(" 11", " 1").replace(" 2\n", " 0\n");
  expect((await lookAtSpool(async () => one)).problem).toMatch(/^1 report waits in the spool/);
});

test("an empty spool is well, and one that can't be asked has nothing to say", async () => {
  expect(await lookAtSpool(async () => "culvert_spool_oldest_envelope_age_seconds 0\n")).toMatchObject({
    state: "good",
  });
  const gone = async () => Promise.reject(new Error("gone"));
  expect(await lookAtSpool(gone)).toMatchObject({ state: "unknown", problem: undefined });
});
