import { expect, test, vi } from "vitest";
import { tagWithRequest } from "./errors/event-id.js";
import { culvertIntegration } from "./integration.js";

test("a filtered error of the server does not use up the request's id, which belongs to the exception that the user was shown", async () => {
  const addEventProcessor = vi.fn();
  const integration = culvertIntegration(undefined, { addRequestId: tagWithRequest });
  integration.setup({ on: vi.fn(), addEventProcessor });
  await null;
  const id = "b".repeat(32);
  // As the SDK does: first the filter, then the processor that tags.
  const processed = (value: string) => {
    const mechanism = { handled: false, type: "auto.function.nextjs.on_request_error" };
    const request = { headers: { "x-request-id": id } };
    const event = integration.processEvent(
      { event_id: "1", request, exception: { values: [{ value, mechanism }] } },
      {},
    );
    return event && addEventProcessor.mock.lastCall?.[0](event, {});
  };
  expect(processed("NEXT_REDIRECT")).toBeNull();
  expect(processed("no such user")).toMatchObject({ event_id: id, tags: { request_id: id } });
});
