import { randomHex } from "../random.ts";
import { BAGGAGE_MAX_BYTES } from "./baggage.ts";

export interface BadHeaders {
  name: string;
  headers: Record<string, string>;
  /** Each header is well-formed, but they name different traces. */
  conflicting?: true;
  /** More than a receiver must take: 431 is an honest answer as well. */
  oversized?: true;
}

/** Trace headers that no receiver may trust, each marked with a canary by which an echo is recognised. */
export function badHeaders(canary: string): BadHeaders[] {
  const [a, b, c, span] = [randomHex(16), randomHex(16), randomHex(16), randomHex(8)];
  const big = `${canary}=`;
  return [
    { name: "a sentry-trace that is none", headers: { "sentry-trace": `<script>${canary}</script>` } },
    { name: "a sentry-trace of zeros", headers: { "sentry-trace": `${"0".repeat(32)}-${"0".repeat(16)}-1` } },
    { name: "two sentry-traces in one", headers: { "sentry-trace": `${a}-${span}-1, ${b}-${span}-0` } },
    { name: "a traceparent of version ff", headers: { traceparent: `ff-${a}-${span}-01` } },
    { name: "a baggage that is none", headers: { baggage: `,;=${canary};"\\,=,` } },
    { name: "a baggage with a broken escape", headers: { baggage: `sentry-release=%E0%A4%A,sentry-x=${canary}%` } },
    {
      name: "a sampling context without a trace",
      headers: { baggage: `sentry-trace_id=${canary},sentry-sample_rate=NaN,sentry-sampled=perhaps` },
    },
    {
      name: "a baggage at W3C's limit",
      headers: { baggage: big + "x".repeat(BAGGAGE_MAX_BYTES - big.length) },
    },
    {
      name: "a baggage of 12,000 bytes",
      headers: { baggage: big + "x".repeat(12_000 - big.length) },
      oversized: true,
    },
    {
      name: "three traces at once",
      headers: {
        "sentry-trace": `${a}-${span}-1`,
        traceparent: `00-${b}-${span}-00`,
        baggage: `sentry-trace_id=${c},sentry-sampled=false`,
      },
      conflicting: true,
    },
  ];
}
