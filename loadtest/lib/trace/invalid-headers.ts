import { randomHex } from "../random.ts";
import { BAGGAGE_MAX_BYTES } from "./baggage.ts";

export interface InvalidHeaders {
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
export function invalidHeaders(): InvalidHeaders[] {
  const [a, b, c, span, canary] = [randomHex(16), randomHex(16), randomHex(16), randomHex(8), `canary${randomHex(8)}`];
  const marked = (name: string, headers: Record<string, string>) => ({ name, headers, forbidden: [canary] });
  const filled = (bytes: number) => `${canary}=`.padEnd(bytes, "x");
  return [
    marked("a malformed sentry-trace", { "sentry-trace": `<script>${canary}</script>` }),
    {
      name: "a sentry-trace of zeros",
      headers: { "sentry-trace": `${"0".repeat(32)}-${"0".repeat(16)}-1` },
      forbidden: [],
      anyTrace: true,
    },
    {
      name: "two sentry-traces in one",
      headers: { "sentry-trace": `${a}-${span}-1, ${b}-${span}-0` },
      forbidden: [a, b, span],
    },
    {
      name: "a traceparent of version ff",
      headers: { traceparent: `ff-${a}-${span}-01` },
      forbidden: [a, span],
    },
    marked("a malformed baggage", { baggage: `,;=${canary};"\\,=,` }),
    marked("a baggage with a broken escape", { baggage: `sentry-release=%E0%A4%A,sentry-x=${canary}%` }),
    marked("a sampling context without a trace", {
      baggage: `sentry-trace_id=${canary},sentry-sample_rate=NaN,sentry-sampled=perhaps`,
    }),
    marked("a baggage at W3C's limit", { baggage: filled(BAGGAGE_MAX_BYTES) }),
    { ...marked("a baggage of 12,000 bytes", { baggage: filled(12_000) }), oversized: true },
    {
      name: "three traces at once",
      headers: {
        "sentry-trace": `${a}-${span}-1`,
        traceparent: `00-${b}-${span}-00`,
        baggage: `sentry-trace_id=${c},sentry-sampled=false`,
      },
      // The page may continue any of them.
      forbidden: [],
      anyTrace: true,
    },
  ];
}
