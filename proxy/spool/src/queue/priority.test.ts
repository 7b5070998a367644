import assert from "node:assert/strict";
import { test } from "vitest";
import { defaultCategory, higherPriority, priorityOf, rateLimitNames } from "./priority.ts";

const categoryOf = (items: string[]) => items.reduce<string | undefined>(higherPriority, undefined);

test("lowest priority first: replay, profile, span and transaction, session, log, feedback, error", () => {
  const ladder = [["error"], ["feedback"], ["log_item"], ["session"], ["transaction", "span"], ["profile"], ["replay"]];
  ladder.forEach((categories, priority) => {
    for (const category of categories) assert.equal(priorityOf(category), priority);
  });
});
test("an envelope has the category of its item with the highest priority", () => {
  assert.equal(categoryOf(["attachment", "event", "session"]), "error");
  assert.equal(categoryOf(["replay_event", "replay_recording"]), "replay");
  assert.equal(categoryOf(["feedback", "replay_recording"]), "feedback");
  assert.equal(categoryOf(["transaction", "profile"]), "transaction");
});
test("an unknown category has a medium priority", () => {
  assert.equal(categoryOf(["from_the_future"]), "default");
  assert.equal(defaultCategory, "default");
  assert.equal(priorityOf("from an older spool"), priorityOf("default"));
});
test("a rate limit on log bytes applies to logs", () => assert.ok(rateLimitNames("log_item").includes("log_byte")));
