import { BAGGAGE_MAX_BYTES } from "../lib/baggage.ts";
import type { Client } from "../lib/client.ts";
import { nextOf, randomHex } from "../lib/random.ts";
import { assertResponse, describeResponse } from "../lib/responses.ts";
import { pageTrace } from "../lib/trace.ts";

interface Variant {
  name: string;
  headers: Record<string, string>;
  /** Text that no response may contain: it would be echoed input, or a trace id continued from a malformed header. */
  forbidden: string[];
  /** SDKs may use the trace: headers that name different ones, or an id of zeros, which Sentry's accepts. */
  anyTrace?: true;
  /** Larger than a receiver must accept: 431 is a correct response too. */
  oversized?: true;
}

/** Trace headers that no receiver may use. */
export function variants(): Variant[] {
  const [a, b, c, span, canary] = [randomHex(16), randomHex(16), randomHex(16), randomHex(8), `canary${randomHex(8)}`];
  const variant = (name: string, headers: Record<string, string>, forbidden = [canary]) => ({
    name,
    headers,
    forbidden,
  });
  const zeros = `${"0".repeat(32)}-${"0".repeat(16)}-1`;
  const filled = (bytes: number) => `${canary}=`.padEnd(bytes, "x");
  const contradicting = {
    "sentry-trace": `${a}-${span}-1`,
    traceparent: `00-${b}-${span}-00`,
    baggage: `sentry-trace_id=${c},sentry-sampled=false`,
  };
  const nonsense = `sentry-trace_id=${canary},sentry-sample_rate=NaN,sentry-sampled=perhaps`;
  return [
    variant("a malformed sentry-trace", { "sentry-trace": `<script>${canary}</script>` }),
    { ...variant("a sentry-trace of zeros", { "sentry-trace": zeros }, []), anyTrace: true },
    variant("two sentry-traces in one", { "sentry-trace": `${a}-${span}-1, ${b}-${span}-0` }, [a, b, span]),
    variant("a traceparent of version ff", { traceparent: `ff-${a}-${span}-01` }, [a, span]),
    variant("a malformed baggage", { baggage: `,;=${canary};"\\,=,` }),
    variant("a baggage with a broken escape", { baggage: `sentry-release=%E0%A4%A,sentry-x=${canary}%` }),
    variant("a sampling context without a trace", { baggage: nonsense }),
    variant("a baggage at W3C's limit", { baggage: filled(BAGGAGE_MAX_BYTES) }),
    { ...variant("a baggage of 12,000 bytes", { baggage: filled(12_000) }), oversized: true },
    { ...variant("three traces at once", contradicting, []), anyTrace: true },
  ];
}

/** Requests a page with each of the invalid trace headers that occur in practice. */
export async function invalidHeaders(client: Client): Promise<void> {
  const path = nextOf(client.options.pages);
  for (const { name, headers, forbidden, anyTrace, oversized } of variants()) {
    const on = await client.request({ path, kind: "page", headers, untimed: true });
    assertResponse(client, on);
    const whole = [on.body, ...Object.values(on.headers)].join("\n");
    const found = forbidden.filter((text) => whole.includes(text)).join(", ");
    client.check("invalid_headers_echo", found === "", on, `${name}: the response contains ${found}`);
    // Whether a page may use such a trace is the SDK's choice; an app without traces has none to judge.
    const { problem } = pageTrace(on.body);
    const usable = on.status === 200 && (anyTrace || problem === "" || !client.options.trace);
    const ok = usable || (oversized && on.status === 431);
    client.check("invalid_headers_page", ok ?? false, on, `${name}: ${describeResponse(on)} ${problem}`);
  }
}
