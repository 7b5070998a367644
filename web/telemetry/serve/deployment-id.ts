import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isFirstCall } from "../once.js";

/** What the proxy asks each replica for: proxy/entrypoint.d/watch-sets.sh. */
const PATH = "/.culvert";

/**
 * Tells the proxy which deployment this process serves, in the header that Next 16 has in its responses to navigations. Next 15 has no such
 * header, and an app's middleware may answer in Next's place.
 */
export function tellDeploymentId(): void {
  // `next build` replaces the variable by `deploymentId`.
  const id = process.env.NEXT_DEPLOYMENT_ID;
  if (!id || !isFirstCall("deployment-id")) return;
  subscribe("http.server.request.start", (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (request.url?.endsWith(PATH)) response.setHeader("x-nextjs-deployment-id", id);
  });
}
