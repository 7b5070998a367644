type Sampling = { attributes?: Record<string, unknown>; inheritOrSampleWith: (rate: number) => number };

/** Health checks and files: many requests, and their traces show nothing. A dot alone does not mean a file: /u/jo.doe, /domains/example.com. */
const UNTRACED = new RegExp(
  [
    "^/(healthz|readyz|_next)(/|\\?|$)",
    "^[^?]*\\.(avif|css|csv|gif|gz|html?|ico|jpe?g|js|json|map|mjs|mp[34]|pdf|png|svg|txt|wasm|web[mp]|webmanifest|woff2?|xml|zip)(\\?|$)",
  ].join("|"),
  "i",
);

/** Takes a request's path and query; returns whether it is a health check's or a file's. A health check at `/` is also the home page. */
function isUntraced(target: string): boolean {
  const base = process.env.CULVERT_BASE_PATH ?? "";
  const path = target.startsWith(base) ? target.slice(base.length) : target;
  const health = process.env.HEALTH_PATH ?? "";
  return UNTRACED.test(path) || (health.length > 1 && path.split("?")[0] === health);
}

/** The type of Next's request span. Its other root spans are its own start-up. */
const REQUEST = "BaseServer.handleRequest";

/**
 * Takes the sample rate, or the app's own sampler; returns the SDK's `tracesSampler`: 0 for health checks, files and Next's start-up. Otherwise
 * the app's sampler decides, or else the caller, if the request carries a decision, or else the rate.
 */
export function sampler<Context extends Sampling>(rate: number | ((context: Context) => number | boolean)) {
  return (context: Context): number | boolean => {
    const { attributes = {}, inheritOrSampleWith } = context;
    const startUp = (attributes["next.span_type"] ?? REQUEST) !== REQUEST;
    if (startUp || isUntraced(String(attributes["http.target"]))) return 0;
    return typeof rate === "number" ? inheritOrSampleWith(rate) : rate(context);
  };
}
