import assert from "node:assert/strict";
import { test } from "vitest";
import { countRejection, metrics, type Rejections } from "./metrics.ts";
import { headers, openStore } from "./queue/store.fixture.ts";

test("metrics, beside those that the tests of the image read", () => {
  const { store, eviction, newEnvelope } = openStore();
  store.add(newEnvelope("error", 1_000));
  const rejections: Rejections = new Map();
  for (let i = 0; i < 2; i++) countRejection(rejections, { status: 503, body: {} });
  const text = metrics(store, eviction, rejections, new Set(["http://new/"]), 2, 5_000);
  for (const line of [
    'culvert_spool_queued_envelopes{category="error"} 1',
    `culvert_spool_queued_bytes{category="error"} ${JSON.stringify(headers).length + 100}`,
    "culvert_spool_oldest_envelope_age_seconds 4",
    "culvert_spool_undeliverable_envelopes 1",
    'culvert_spool_accepted_total{category="error"} 1',
    'culvert_spool_rejected_total{status="503"} 2',
    `culvert_spool_limit_bytes ${eviction.maxBytes}`,
    `culvert_spool_disk_free_bytes ${eviction.freeDiskBytes()}`,
    "# TYPE culvert_spool_redelivered_total counter",
  ]) {
    assert.ok(text.includes(`${line}\n`), line);
  }
});
