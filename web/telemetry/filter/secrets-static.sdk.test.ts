import { expect, test } from "vitest";
import { PLANTED, plantSecrets } from "./planted-secrets.js";

test("no secret of a request leaves this server, with traces in the lifecycle 'static'", async () => {
  const { envelopes, propagated } = await plantSecrets("static");
  const types = envelopes.flatMap((text) => [...text.matchAll(/^\{"type":"(\w+)"/gm)].map(([, type]) => type));
  expect(types).toEqual(
    expect.arrayContaining(["event", "feedback", "check_in", "session", "log", "trace_metric", "transaction"]),
  );
  expect(envelopes.filter((text) => PLANTED.test(text))).toEqual([]);
  expect(propagated[0]?.baggage).toContain("sentry-transaction=POST%20%2Freset");
  expect(propagated[0]?.baggage).not.toMatch(PLANTED);
});
