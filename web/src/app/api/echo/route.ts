import { requireConsole } from "../../../console/guard";
import { traceHeaders } from "../../../console/trace-headers";

/** Responds with the trace headers that it received: the default for UPSTREAM_URL, so that /trace works without an API. */
export function GET(request: Request) {
  requireConsole();
  return Response.json(traceHeaders(request.headers), { headers: { "Cache-Control": "no-store" } });
}
