import { beforeEach, expect, test, vi } from "vitest";
import { tagWithRequest } from "./errors/event-id.js";
import { culvertIntegration } from "./integration.js";
import { sendOutcomes } from "./send/send-outcomes.js";

beforeEach(() => vi.stubEnv("CULVERT_SEND_OUTCOMES", "on"));
const integration = culvertIntegration("eu", { addRequestId: tagWithRequest });
type Hint = { originalException?: unknown };

/** Processes an event as the SDK does: first the integration's filter, then its processor that tags. */
async function processed<T extends object>(event: T, hint: Hint = {}): Promise<object | null> {
  const addEventProcessor = vi.fn();
  integration.setup({ on: vi.fn(), addEventProcessor });
  await null;
  const [tag] = addEventProcessor.mock.calls[0] as [(event: object, hint: Hint) => object];
  const wanted = integration.processEvent(event, hint);
  return wanted && tag(wanted, hint);
}

test("a filtered error of the server does not use up the request's id, which belongs to the exception that the user was shown", async () => {
  const id = "b".repeat(32);
  const thrown = (value: string) => ({
    event_id: "1",
    request: { headers: { "x-request-id": id } },
    exception: { values: [{ value, mechanism: { handled: false, type: "auto.function.nextjs.on_request_error" } }] },
  });
  expect(await processed(thrown("NEXT_REDIRECT"))).toBeNull();
  expect(await processed(thrown("no such user"))).toMatchObject({
    event_id: id,
    tags: { region: "eu", request_id: id },
  });
});

test("a filtered error is dropped and its reason recorded; others are tagged with their digest", async () => {
  const error = (value: string) => ({ event_id: "e1", exception: { values: [{ type: "Error", value }] } });
  expect(await processed(error("ResizeObserver loop limit exceeded"))).toBeNull();
  expect(sendOutcomes()[0]).toMatchObject({
    eventId: "e1",
    outcome: "dropped",
    note: expect.stringContaining("two layout passes"),
  });
  expect(await processed(error("x"), { originalException: { digest: "123" } })).toMatchObject({
    tags: { digest: "123", region: "eu" },
  });
});
