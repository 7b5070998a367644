import { requireConsole } from "../../../console/guard";
import { traceHeaders } from "../../../console/trace-headers";

/** Answers with the trace headers it was sent: the stand-in for an API of yours, so that /trace works from the start. */
export function GET(request: Request) {
  requireConsole();
  return Response.json(traceHeaders(request.headers), { headers: { "Cache-Control": "no-store" } });
}
