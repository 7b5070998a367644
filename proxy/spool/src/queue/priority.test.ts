import assert from "node:assert/strict";
import { test } from "vitest";
import { defaultCategory, higherPriority, priorityOf, rateLimitNames } from "./priority.ts";

// The order of proxy/README.md.
test.each(
  [
    ["error", "monitor"],
    ["feedback", "attachment"],
    ["log_item", "trace_metric", "security", "internal", "default", "from an older spool"],
    ["session"],
    ["transaction", "span"],
    ["profile"],
    ["replay"],
  ].map((categories, priority) => [priority, categories] as const),
)("priority %i: %s", (priority, categories) => {
  for (const category of categories) assert.equal(priorityOf(category), priority);
});
test.each([
  ["error", ["attachment", "event", "session"]],
  ["replay", ["replay_event", "replay_recording"]],
  ["feedback", ["feedback", "replay_recording"]],
  ["transaction", ["transaction", "profile"]],
  [defaultCategory, ["from_the_future"]],
])("an envelope has the category of its item with the highest priority: %s", (category, items) => {
  assert.equal(items.reduce<string | undefined>(higherPriority, undefined), category);
});
test("a rate limit on log bytes applies to logs", () => assert.ok(rateLimitNames("log_item").includes("log_byte")));
