type Sampling = {
  attributes?: Record<string, unknown>;
  inheritOrSampleWith: (rate: number) => number;
};

/** Says which share of what has these attributes is to be traced, 0 to 1. */
export type Sampler = (sampling: Sampling) => number;

/** Set on a span that was chosen before the SDK was asked (trace/skip-unsampled.ts): the number that was drawn. */
export const CHOSEN = "culvert.sample_rand";

/** Probes and files: many requests, nothing to learn from one. A dot alone makes no file: /u/jo.doe, /domains/example.com. */
const UNTRACED = new RegExp(
  [
    "^/(healthz|readyz|_next)(/|\\?|$)",
    "^[^?]*\\.(avif|css|csv|gif|gz|html?|ico|jpe?g|js|json|map|mjs|mp[34]|pdf|png|svg|txt|wasm|web[mp]|webmanifest|woff2?|xml|zip)(\\?|$)",
  ].join("|"),
  "i",
);

/** The type of the span in which Next answers a request. Its others, at the root, are its own start-up. */
const REQUEST = "BaseServer.handleRequest";

/**
 * Takes the sample rate and returns the SDK's `tracesSampler`: never for probes, files and Next's start-up, else as the
 * caller of this request decided, else by rate.
 */
export function sampler(rate: number): Sampler {
  return ({ attributes = {}, inheritOrSampleWith }) => {
    if (CHOSEN in attributes) return 1;
    const startUp = (attributes["next.span_type"] ?? REQUEST) !== REQUEST;
    return startUp || UNTRACED.test(String(attributes["http.target"])) ? 0 : inheritOrSampleWith(rate);
  };
}
