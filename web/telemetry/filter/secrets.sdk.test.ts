import { expect, test } from "vitest";
import { PLANTED, plantSecrets } from "../test/planted-secrets.js";

test.each([
  ["stream", "span"],
  ["static", "transaction"],
] as const)(
  "no secret of a request leaves this server, with traces in the lifecycle '%s'",
  async (lifecycle, trace) => {
    const { envelopes, propagated } = await plantSecrets(lifecycle);
    const types = envelopes.flatMap((text) => [...text.matchAll(/^\{"type":"(\w+)"/gm)].map(([, type]) => type));
    const all = ["event", "feedback", "check_in", "session", "log", "trace_metric", trace];
    expect(types).toEqual(expect.arrayContaining(all));
    expect(envelopes.filter((text) => PLANTED.test(text))).toEqual([]);
    expect(propagated[0]?.baggage).toContain("sentry-transaction=POST%20%2Freset");
    expect(propagated[0]?.baggage).not.toMatch(PLANTED);
  },
);
