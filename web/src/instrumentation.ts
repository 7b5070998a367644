import * as culvert from "@culvert/nextjs/server";
import { settings } from "./settings";

export { onRequestError } from "@culvert/nextjs/server";

/** Most apps export the package's `register` as it is. This one checks settings of its own, and traces its calls to the API that one names. */
export const register = () => culvert.register(() => ({ tracePropagationTargets: [originOf(settings().upstreamUrl)] }));

/** A pattern, because the SDK matches a string anywhere in an address. */
function originOf({ origin }: URL): RegExp {
  return new RegExp(`^${origin.replaceAll(".", "\\.")}(?:[/?#]|$)`);
}
