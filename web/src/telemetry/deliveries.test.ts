import { expect, test, vi } from "vitest";
import { latestDelivery, subscribeDeliveries, watchDeliveries } from "./deliveries";

type Callback = Parameters<Parameters<typeof watchDeliveries>[0]["on"]>[1];

test("subscribers learn what became of each error report, and of nothing else", () => {
  const hooks: Callback[] = [];
  watchDeliveries({ on: (_hook, callback) => hooks.push(callback) });
  const sent: Callback = (event, response) => hooks[0]?.(event, response);
  const listener = vi.fn();
  const unsubscribe = subscribeDeliveries(listener);

  sent({ event_id: "t", type: "transaction" }, { statusCode: 200 });
  expect(listener).not.toHaveBeenCalled();
  expect(latestDelivery()).toBeUndefined();

  sent({ event_id: "e" }, { statusCode: 403 });
  expect(latestDelivery()).toEqual({ eventId: "e", status: 403 });
  expect(listener).toHaveBeenCalledOnce();

  unsubscribe();
  sent({ event_id: "f" }, {});
  expect(listener).toHaveBeenCalledOnce();
  expect(latestDelivery()).toEqual({ eventId: "f", status: undefined });
});
