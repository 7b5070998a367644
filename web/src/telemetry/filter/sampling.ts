type Sampling = {
  attributes?: Record<string, unknown>;
  inheritOrSampleWith: (rate: number) => number;
};

/** Takes a span's attributes and returns the share of such traces to record, 0 to 1. */
export type Sampler = (sampling: Sampling) => number;

/** Set on a span that was sampled before the SDK was called (trace/skip-unsampled.ts): the random number that was drawn. */
export const SAMPLE_RAND = "culvert.sample_rand";

/** Health checks and files: many requests, and their traces show nothing. A dot alone does not mean a file: /u/jo.doe, /domains/example.com. */
const UNTRACED = new RegExp(
  [
    "^/(healthz|readyz|_next)(/|\\?|$)",
    "^[^?]*\\.(avif|css|csv|gif|gz|html?|ico|jpe?g|js|json|map|mjs|mp[34]|pdf|png|svg|txt|wasm|web[mp]|webmanifest|woff2?|xml|zip)(\\?|$)",
  ].join("|"),
  "i",
);

/** The type of Next's request span. Its other root spans are its own start-up. */
const REQUEST = "BaseServer.handleRequest";

/**
 * Takes the sample rate and returns the SDK's `tracesSampler`: 0 for health checks, files and Next's start-up; otherwise the
 * caller's decision, if the request carries one; otherwise the rate.
 */
export function sampler(rate: number): Sampler {
  return ({ attributes = {}, inheritOrSampleWith }) => {
    if (SAMPLE_RAND in attributes) return 1;
    const startUp = (attributes["next.span_type"] ?? REQUEST) !== REQUEST;
    return startUp || UNTRACED.test(String(attributes["http.target"])) ? 0 : inheritOrSampleWith(rate);
  };
}
