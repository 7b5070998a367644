import assert from "node:assert/strict";
import { test } from "vitest";
import { fallback, higherPriority, limitNames, priorityOf } from "./priority.ts";

const categoryOf = (items: string[]) => items.reduce<string | undefined>(higherPriority, undefined);

test("lowest worth first: replay, profile, span and transaction, session, log, feedback, error", () => {
  const ladder = [["error"], ["feedback"], ["log_item"], ["session"], ["transaction", "span"], ["profile"], ["replay"]];
  ladder.forEach((categories, worth) => {
    for (const category of categories) assert.equal(priorityOf(category), worth);
  });
});
test("an envelope is what its worthiest item is", () => {
  assert.equal(categoryOf(["attachment", "event", "session"]), "error");
  assert.equal(categoryOf(["replay_event", "replay_recording"]), "replay");
  assert.equal(categoryOf(["feedback", "replay_recording"]), "feedback");
  assert.equal(categoryOf(["transaction", "profile"]), "transaction");
});
test("what is not known is neither precious nor bulk", () => {
  assert.equal(categoryOf(["from_the_future"]), "default");
  assert.equal(fallback, "default");
  assert.equal(priorityOf("from an older spool"), priorityOf("default"));
});
test("a limit on logs by bytes stops logs as well", () => assert.ok(limitNames("log_item").includes("log_byte")));
