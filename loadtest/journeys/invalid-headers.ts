import { BAGGAGE_MAX_BYTES } from "../lib/baggage.ts";
import type { Client } from "../lib/client.ts";
import { randomHex } from "../lib/random.ts";
import { assertResponse, describeResponse } from "../lib/responses.ts";
import { pageTrace } from "../lib/trace.ts";

interface Variant {
  name: string;
  headers: Record<string, string>;
  /** Text that no response may contain. */
  forbidden?: string[];
  /** SDKs may use the trace. */
  anyTrace?: true;
  /** A receiver may answer 431. */
  oversized?: true;
}

/** Trace headers that no receiver may use. */
function variants(canary: string): Variant[] {
  const [a, b, span] = [randomHex(16), randomHex(16), randomHex(8)];
  const sentryTrace = `${a}-${span}-1`;
  const contradicting = {
    "sentry-trace": sentryTrace,
    traceparent: `00-${b}-${span}-00`,
    baggage: `sentry-trace_id=${b}`,
  };
  const zeros = `${"0".repeat(32)}-${"0".repeat(16)}-1`;
  return [
    { name: "a malformed sentry-trace", headers: { "sentry-trace": `<script>${canary}</script>` } },
    { name: "a sentry-trace of zeros", headers: { "sentry-trace": zeros }, anyTrace: true },
    {
      name: "two sentry-traces in one",
      headers: { "sentry-trace": `${sentryTrace}, ${b}-${span}-0` },
      forbidden: [a, b, span],
    },
    { name: "a traceparent of version ff", headers: { traceparent: `ff-${a}-${span}-01` }, forbidden: [a, span] },
    { name: "a malformed baggage", headers: { baggage: `,;=${canary};"\\,=,` } },
    { name: "a baggage with a broken escape", headers: { baggage: `sentry-release=%E0%A4%A,sentry-x=${canary}%` } },
    {
      name: "a sampling context without a trace",
      headers: { baggage: `sentry-trace_id=${canary},sentry-sampled=perhaps` },
    },
    { name: "a baggage at W3C's limit", headers: { baggage: `${canary}=`.padEnd(BAGGAGE_MAX_BYTES, "x") } },
    { name: "a baggage of 12,000 bytes", headers: { baggage: `${canary}=`.padEnd(12_000, "x") }, oversized: true },
    { name: "three traces at once", headers: contradicting, anyTrace: true },
  ];
}

export async function invalidHeaders(client: Client): Promise<void> {
  const path = client.page();
  const canary = `canary${randomHex(8)}`;
  for (const { name, headers, forbidden = [], anyTrace, oversized } of variants(canary)) {
    const on = await client.request({ path, kind: "page", headers, untimed: true });
    assertResponse(client, on);
    const whole = [on.body, ...Object.values(on.headers)].join("\n");
    const found = [canary, ...forbidden].filter((text) => whole.includes(text)).join(", ");
    client.check("invalid_headers_echo", found === "", on, `${name}: the response contains ${found}`);
    const { problem } = pageTrace(on);
    const usable = on.status === 200 && (anyTrace || problem === "" || !client.options.trace);
    const ok = usable || (oversized && on.status === 431);
    client.check("invalid_headers_page", ok ?? false, on, `${name}: ${describeResponse(on)} ${problem}`);
  }
}
