import assert from "node:assert/strict";
import { test } from "vitest";
import { metrics } from "./metrics.ts";
import { headers, openStore } from "./queue/store.fixture.ts";

test("metrics, beside those that the tests of the image read", () => {
  const { store, eviction, newEnvelope } = openStore();
  store.add(newEnvelope("error", 1_000));
  const text = metrics(store, eviction, new Map(), new Set(), 2, 5_000);
  for (const line of [
    `culvert_spool_queued_bytes{category="error"} ${JSON.stringify(headers).length + 100}`,
    "culvert_spool_oldest_envelope_age_seconds 4",
    `culvert_spool_limit_bytes ${eviction.maxBytes}`,
    `culvert_spool_disk_free_bytes ${eviction.freeDiskBytes()}`,
    "# TYPE culvert_spool_redelivered_total counter",
  ]) {
    assert.ok(text.includes(`${line}\n`), line);
  }
});
